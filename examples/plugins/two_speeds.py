"""A virtual model: a long conversation goes to the large model, the rest to the small one.

    zot --plugin two_speeds.py --model speeds/auto -p "Hello"

When the small model fails the large one answers; when that fails too, None ends the request with its failure.
The names of the two are settings: `"plugins": {"two_speeds": {"small": "openai/…", "large": "anthropic/…:high"}}`.
"""

from zot_core import ModelSpec, Route, VirtualModel, hookimpl

LONG = 20  # messages


def route(request, ctx):
    small = ctx.settings.get("small", "scripted/scripted")
    large = ctx.settings.get("large", "scripted/scripted")
    if len(request.tried) > 1:
        return None
    count = (request.state or {}).get("requests", 0) + 1
    model = large if request.tried or len(request.messages) > LONG else small
    return Route(model=model, state={"requests": count})


@hookimpl
def virtual_models():
    auto = ModelSpec(id="auto", provider="speeds", name="Small or large", context_window=128_000, reasoning=True)
    return VirtualModel(model=auto, route=route)
