"""`zot --list-models`: the models of the providers that are loaded, and for which of them there is a key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zot_cli import running
from zot_cli.commands.opening import QuietFront, opened
from zot_cli.commands.tables import show_rows

if TYPE_CHECKING:
    from zot_cli.options import CommandLine
    from zot_core.app import App


def run(line: CommandLine) -> int:
    """Prints a row a model; with `--provider` that provider's."""

    front = QuietFront()

    async def look() -> list[dict[str, Any]]:
        async with opened(line, front) as app:
            return _rows(app, line.get("provider", ""))

    rows = running.run(look())
    front.complain()
    columns = ("model", "context_window", "max_output", "inputs", "reasoning", "usable")
    show_rows(
        rows, columns, as_json=bool(line.get("json")), empty="no models; a provider's plugin or models.json brings them"
    )
    return 0


def _rows(app: App, provider: str) -> list[dict[str, Any]]:
    models, chosen = app.runtime.models, app.runtime.choice.model
    usable = {spec.id: app.has_credential(spec) for spec in models.providers()}
    return [
        {
            "model": f"{model.provider}/{model.id}",
            "id": model.id,
            "provider": model.provider,
            "name": model.name,
            "context_window": model.context_window,
            "max_output": model.max_output,
            "inputs": list(model.inputs),
            "reasoning": model.reasoning,
            "usable": usable.get(model.provider, False),
            "chosen": chosen is not None and (model.provider, model.id) == (chosen.provider, chosen.id),
        }
        for model in models.models(provider)
    ]
