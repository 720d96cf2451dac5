"""Brings the wire format `openai-completions`. Its compat flags (of a model or of its whole provider):

| flag | meaning | without it |
| --- | --- | --- |
| supportsDeveloperRole | reasoning models get the system prompt as `developer` | false: `system` |
| supportsReasoningEffort | takes `reasoning_effort` | true |
| thinkingToggle | takes `thinking: {"type": "enabled"}` or `disabled`, beside the effort | false |
| reasoningObject | takes `reasoning: {"effort": …}` in place of `reasoning_effort` | false |
| reasoningEffortWithTools | the only `reasoning_effort` that it takes with tools; "" says none | as asked |
| maxTokensField | `max_tokens` or `max_completion_tokens` | `max_tokens` |
| supportsUsageInStreaming | takes `stream_options.include_usage` | true |
| supportsPromptCacheKey | takes `prompt_cache_key`; it gets the session's id | false |
| supportsStore | takes `store`; it gets false | false |
| supportsFinishReason | says a `finish_reason`; if not, the end of the body is the end | true |
| replaysReasoning | gets its own reasoning back in the field that it came in | true |
| callIdLength | takes call ids of exactly so many letters and digits | 1 to 40 of any kind |
| requiresToolResultName | wants `name` on tool results | false |
| requiresAssistantAfterToolResult | wants an assistant's message between tool results and a user's | false |
| versionlessPath | the base URL has no version and wants none: no `v1` is put before the path | false |
| path | the path below the base URL, with `{model}` for the model's id | `v1/chat/completions` |
| keyHeader | the header that carries the key as it is | `authorization`, as a bearer token |
| deferredToolsMode | `kimi`: takes tools within the conversation as Kimi K3 does; "" if not | the catalog's Kimi K3 |
| listsModels | lists its models at `v1/models` | true |
| extraBody | an object merged over the payload: sampling parameters and the like | |
"""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import ApiFormat


@hookimpl
def api_formats() -> list[ApiFormat]:
    """The format; its code is imported with the first request."""
    return [
        ApiFormat(
            name="openai-completions",
            build="zot_plugins.api_openai_chat.request:build",
            parser="zot_plugins.api_openai_chat.stream:ChatParser",
            discover="zot_plugins.api_openai_chat.models:discover",
        )
    ]
