"""Brings the wire format `openai-responses`. Its compat flags (of a model or of its whole provider):

| flag | meaning | without it |
| --- | --- | --- |
| supportsReasoningEffort | takes `reasoning.effort` | true |
| reasoningSummary | `reasoning.summary`: `auto`, `concise`, `detailed`; "" asks for none | `auto` |
| replaysPlainReasoning | gets its own reasoning back as plain text where it came without encrypted content | false |
| supportsToolResultImages | takes pictures in `function_call_output`; if not, they follow as the user's | true |
| supportsPromptCacheKey | takes `prompt_cache_key`; it gets the session's id | false |
| serviceTier | the `service_tier` to ask for | |
| serviceTierPrices | what a tier costs, as a factor of the standard price, by the tier that the server says it used | |
| versionlessPath | the base URL has no version and wants none: no `v1` is put before the path | false |
| keyHeader | the header that carries the key as it is | `authorization`, as a bearer token |
| supportsToolSearch | takes tools within the conversation, as a finished search | the catalog's gpt-5.4 and later |
| listsModels | lists its models at `v1/models` | true |
| extraBody | an object merged over the payload: `text.verbosity` and the like | |
"""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import ApiFormat


@hookimpl
def api_formats() -> list[ApiFormat]:
    """The format; its code is imported with the first request."""
    return [
        ApiFormat(
            name="openai-responses",
            build="zot_plugins.api_openai_responses.request:build",
            parser="zot_plugins.api_openai_responses.stream:ResponsesParser",
            discover="zot_plugins.api_openai_responses.models:discover",
        )
    ]
