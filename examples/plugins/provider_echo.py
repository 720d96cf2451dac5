"""A provider without a network: its model says back what it was told. The shape is that of every provider.

    zot --plugin provider_echo.py --provider echo -p "Is anybody there?"

A provider of HTTP servers gives `api` and `base_url` in the place of `stream`; then the wire format does the rest.
"""

from zot_core import ModelSpec, ProviderSpec, Text, Usage, hookimpl
from zot_core.types.stream import Done, TextDelta, UsageUpdate


async def stream(request):
    """One answer in parts. After the first part nothing may be raised: a failure is the last part, `Failed`."""
    last = request.messages[-1]
    words = " ".join(block.text for block in last.content if isinstance(block, Text)).split()
    for count, word in enumerate(words):
        yield TextDelta(f" {word}" if count else word)
    yield UsageUpdate(Usage(input=len(words), output=len(words)))
    yield Done("end_turn")


@hookimpl
def providers():
    return ProviderSpec(
        id="echo",
        name="Echo",
        keyless=True,
        models=(ModelSpec(id="parrot", provider="echo", context_window=8_000),),
        default_model="parrot",
        stream=stream,
    )
