"""Brings the wire format `anthropic-messages`. Its compat flags (of a model or of its whole provider); in
`thinkingLevelMap` the word of `off` is `disabled` or `between_tools` where a model has to be told not to think:

| flag | meaning | without it |
| --- | --- | --- |
| thinking | `adaptive` (the level is an effort) or `budget` (the level is a number of tokens) | `budget` |
| thinkingBudgets | tokens for each level, such as `{"low": 4096}`, over the format's own | |
| thinkingDisplay | what adaptive thinking shows: `summarized` or `omitted` | `summarized` |
| bindsThinking | signatures hold only while all before them is unchanged: asks to drop those that do not | false |
| interleavedThinking | wants the beta header for thinking between tool calls with a budget | false |
| replaysUnsignedThinking | gets thinking back that it sent without a signature | false |
| cacheControl | takes `cache_control`; false sends none | true |
| cacheTtl | how long cached prefixes live: `5m` or `1h` | `5m` |
| longPrompts | `{"above": tokens, "times": factor}`: what a longer prompt multiplies all prices by | |
| serviceTier | `auto` or `standard_only` | as the server likes |
| bearerAuth | wants the key as `Authorization: Bearer` | `x-api-key` |
| betas | a list of further `anthropic-beta` values | |
| versionlessPath | the base URL has no version and wants none: no `v1` is put before the path | false |
| path | a path of its own, with the model in the place of `{model}`, and then not in the body | `v1/messages` |
| bodyVersion | what stands in the body as `anthropic_version`, and then not in a header | |
| betasInBody | wants betas in the body as `anthropic_beta` | in a header |
| streamField | false: the path asks for a stream, and `stream` is refused | true |
| bindingField | what the field of `block_binding` is called | `prefix_mismatch_behavior` |
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
            name="anthropic-messages",
            build="zot_plugins.api_anthropic.request:build",
            parser="zot_plugins.api_anthropic.stream:MessagesParser",
            discover="zot_plugins.api_anthropic.models:discover",
            decoders={"application/vnd.amazon.eventstream": "zot_plugins.api_anthropic.eventstream:EventStreamDecoder"},
        )
    ]
