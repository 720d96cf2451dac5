"""The page of extension frames: which there are, their fields and what they say, is the code's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from generators.markdown import code, doc, table
from zot_core.wire import frames

INTRO = f"""
# Frames of extensions

Every frame that zot and an [extension](../extensions.md) exchange: one JSON object a line, at most
{frames.MAX_FRAME >> 20} MiB, protocol version {frames.PROTOCOL_VERSION}. Fields marked with `?` may be left out;
null counts as left out, and fields that are not listed are let be.
"""
KINDS = {str: "text", int: "whole number", float: "number", bool: "true or false", dict: "object", list: "list"}


def page() -> str:
    """Both directions, a section a frame."""
    parts = [INTRO.strip()]
    for title, found in (("From the extension", frames.INCOMING), ("From zot", frames.OUTGOING)):
        parts.append(f"## {title}")
        parts += [_frame(name, frame) for name, frame in _mapping(found).items()]
    return "\n\n".join(parts)


def _mapping(found: Mapping[str, Any]) -> Mapping[str, type[BaseModel]]:
    return found


def _frame(name: str, frame: type[BaseModel]) -> str:
    rows = [_row(key, info) for key, info in frame.model_fields.items()]
    shown = [table(("field", "kind", "what it is"), rows)] if rows else []
    return "\n\n".join([f"### {code(name)}", doc(frame), *shown])


def _row(key: str, info: FieldInfo) -> tuple[str, str, str]:
    name = info.alias or key
    return code(name if info.is_required() else f"{name}?"), _kind(info.annotation), info.description or ""


def _kind(kind: Any) -> str:
    origin, args = get_origin(kind), [one for one in get_args(kind) if one is not type(None)]
    if origin in KINDS:
        return KINDS[origin]
    if kind in KINDS:
        return KINDS[kind]
    if origin is not None and str(origin).endswith("Literal"):
        return ", ".join(code(str(one)) for one in args)
    if args:
        return " or ".join(dict.fromkeys(_kind(one) for one in args))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return "object"
    return "anything"
