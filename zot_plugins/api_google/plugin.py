"""Brings the wire format `google-generative-ai`. Its compat flags (of a model or of its whole provider):

| flag | meaning | without it |
| --- | --- | --- |
| requiresThoughtSignature | refuses unsigned calls in the running turn: other models' get a stand-in | false |
| supportsMultimodalFunctionResponse | takes pictures in function responses; if not, they follow as the user's | false |
| requiresCallIds | wants an id on every call and response | only where the model gave one |
| supportsThinking | takes `thinkingConfig` | true |
| includeThoughts | asks for summaries of the model's thinking | true |
| safetySettings | the list to send as `safetySettings` | |
| path | a path of its own, with the model in the place of `{model}` | `v1beta/models/{model}:…` |
| bearerAuth | wants the key as `Authorization: Bearer` | `x-goog-api-key` |
| extraBody | an object merged over the payload: `toolConfig` and the like | |

A thinking level's word in the catalog says how it is asked for: a number is a `thinkingBudget` in tokens (`-1`: as the
model likes), any other word is a `thinkingLevel`.
"""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import ApiFormat


@hookimpl
def api_formats() -> list[ApiFormat]:
    """The format; its code is imported with the first request."""
    return [
        ApiFormat(
            name="google-generative-ai",
            build="zot_plugins.api_google.request:build",
            parser="zot_plugins.api_google.stream:GoogleParser",
            discover="zot_plugins.api_google.models:discover",
        )
    ]
