"""Brings the providers that are data over a wire format; their catalogs are imported when a model is looked up."""

from __future__ import annotations

from zot_core import hookimpl
from zot_core.types.specs import ProviderSpec, resolve


@hookimpl
def providers() -> list[ProviderSpec]:
    """Those of endpoints.py in their order, and `custom`: any compatible server, named with `--base-url`."""
    found: list[ProviderSpec] = resolve("zot_plugins.providers.endpoints:endpoints")()
    # A server of one's own may want no key, and OpenAI's is none of its business: --api-key or auth.json give one
    return [
        *found,
        ProviderSpec(id="custom", name="Any compatible server", api="openai-completions", keyless=True),
    ]
