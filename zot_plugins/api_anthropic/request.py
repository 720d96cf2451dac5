"""A Request as the body of the Messages API. Pure: the same request is the same body, because servers cache by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from zot_core.models.loading import Placement, can_load, placed
from zot_core.models.protocol import HttpRequest, Request
from zot_core.types.specs import Json, ModelSpec, ToolSpec
from zot_plugins.api_anthropic.messages import Body, marked, rows_of
from zot_plugins.api_anthropic.names import wire_name
from zot_plugins.api_anthropic.thinking import Plan, fitting, plan

VERSION = "2023-06-01"
LOGIN = "oauth-2025-04-20"
"""The beta value that a login's token needs."""
_CHOICES = ("anyOf", "oneOf", "allOf")
_LOADING = re.compile(r"claude-(?:sonnet|opus|fable|mythos)-(?:4-[5-9]|[5-9])(?!\d)")
"""Models of the catalog that take `tool_reference` at the place where a tool is loaded, in a client's own search:
https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-search-tool (2026-11), with Haiku left out."""


def build(request: Request) -> HttpRequest:
    """Path, headers and payload of the call."""
    model, compat = request.model, request.model.compat
    mark = _mark(compat)
    max_tokens = max(1, min(request.max_output or model.max_output, model.max_output))
    thought = plan(request, max_tokens)
    # Where thinking is switched off, there is nothing to ask a server that checks what stands before old thinking
    thoughts = not (thought.kind == "disabled" and compat.get("bindsThinking"))
    tools = placed(request.tools, request.messages, can_load(model, "supportsToolReferences", _LOADING), request.grown)
    rows = rows_of(request.messages, model, request.grown, thoughts, tools.loaded)
    thought = fitting(thought, rows)
    payload: Body = {**_named(model), "max_tokens": max_tokens, **_framed(compat, thought)}
    if request.system and request.system.strip():
        payload["system"] = [_with({"type": "text", "text": request.system}, mark)]
    if request.tools:
        payload["tools"] = _tools(tools, mark)
    payload.update(thought.payload)
    if isinstance(tier := compat.get("serviceTier"), str):
        payload["service_tier"] = tier
    payload["messages"] = marked(rows, mark) if mark else rows
    extra = compat.get("extraBody")
    if isinstance(extra, Mapping):
        payload.update(extra)
    return HttpRequest(path=_path(model), payload=payload, **_headers(compat, thought))


def _path(model: ModelSpec) -> str:
    given = model.compat.get("path")
    if isinstance(given, str) and given:
        return given.replace("{model}", quote(model.id, safe="-._~@"))
    return "messages" if model.compat.get("versionlessPath") else "v1/messages"


def _named(model: ModelSpec) -> Body:
    """The model, where it is not in the path."""
    path = model.compat.get("path")
    return {} if isinstance(path, str) and "{model}" in path else {"model": model.id}


def _framed(compat: Json, thought: Plan) -> Body:
    """What hosts want in the body that Anthropic itself has in headers, and the asking for a stream."""
    fields: Body = {} if compat.get("streamField") is False else {"stream": True}
    if version := compat.get("bodyVersion"):
        fields["anthropic_version"] = version
    if compat.get("betasInBody") and (betas := _betas(compat, thought)):
        fields["anthropic_beta"] = betas
    return fields


def _betas(compat: Json, thought: Plan) -> list[str]:
    given = compat.get("betas")
    return [*thought.betas, *(given if isinstance(given, (list, tuple)) else ())]


def _headers(compat: Json, thought: Plan) -> dict[str, Mapping[str, str]]:
    betas = [] if compat.get("betasInBody") else _betas(compat, thought)
    headers = {} if compat.get("bodyVersion") else {"anthropic-version": VERSION}
    if betas:
        headers["anthropic-beta"] = ",".join(betas)
    bearer = {"authorization": "Bearer {key}"}
    return {
        "headers": headers,
        "auth": bearer if compat.get("bearerAuth") else {"x-api-key": "{key}"},
        "login": {**bearer, "anthropic-beta": ",".join([LOGIN, *betas])},
    }


def _mark(compat: Json) -> Body | None:
    if not compat.get("cacheControl", True):
        return None
    return {"type": "ephemeral", "ttl": "1h"} if compat.get("cacheTtl") == "1h" else {"type": "ephemeral"}


def _with(block: Body, mark: Body | None) -> Body:
    return {**block, "cache_control": mark} if mark else block


def _tools(tools: Placement, mark: Body | None) -> list[Body]:
    """The definitions: those that results refer to come last and marked as such, which keeps them out of the prompt's
    beginning and of its cache; a breakpoint on one of them is refused."""
    rows = [_tool(spec) for spec in tools.listed]
    rows[-1] = _with(rows[-1], mark)
    later = sorted((spec for specs in tools.loaded.values() for spec in specs), key=lambda spec: spec.name)
    return [*rows, *({**_tool(spec), "defer_loading": True} for spec in later)]


def _tool(spec: ToolSpec) -> Body:
    row: Body = {"name": wire_name(spec.name), "input_schema": _schema(spec.parameters)}
    return {**row, "description": spec.description} if spec.description.strip() else row


def _schema(schema: Json) -> Json:
    """The schema as it is; one that is a choice between objects becomes one object of all their properties, because
    servers refuse a choice at the top. The tool itself still checks what it gets."""
    if schema.get("type") == "object" and not any(key in schema for key in _CHOICES):
        return schema
    merged = {key: value for key, value in schema.items() if key not in _CHOICES}
    properties = dict(merged.get("properties", {}))
    for key in _CHOICES:
        for option in schema.get(key, ()):
            if isinstance(option, Mapping) and isinstance(option.get("properties"), Mapping):
                properties = {**option["properties"], **properties}
    return {**merged, "type": "object", "properties": properties}
