"""`ctx.ui` on the screen in one plugin's name: what shows something that the plugin made. The rest is ReplUi's."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zot_cli.repl.custom.held import Held
from zot_cli.repl.custom.parts import Owner
from zot_cli.repl.themes import AUTO
from zot_core.ui.overlay import OverlayOptions
from zot_core.ui.theme import Theme

if TYPE_CHECKING:
    from zot_cli.repl.app import Repl
    from zot_core.runtime.runtime import Runtime


class PluginScreen:
    """See `zot_core.ctx.protocols.Ui`."""

    def __init__(self, repl: Repl, plugin: str, runtime: Runtime) -> None:
        self._repl, self._owner = repl, Owner(plugin, runtime)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._repl.ui, name)

    # --- components --------------------------------------------------------------------------------------------------

    async def custom(
        self,
        factory: Callable[..., Any],
        *,
        overlay: bool = False,
        overlay_options: OverlayOptions | Mapping[str, Any] | None = None,
        on_handle: Callable[[Any], object] | None = None,
        title: str = "",
    ) -> Any:
        """A component until it is done, in the editor's place or over everything."""
        repl, parts = self._repl, self._repl.ui.parts
        options = OverlayOptions.of(overlay_options)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        place: Any = repl.overlays if overlay else repl.stage
        held: Held | None = None

        def done(value: Any = None) -> None:
            if held is not None:
                place.close(held)  # at once: the next key is another's
            if not answer.done():
                answer.set_result(value)

        try:
            component = factory(parts.tui, parts.theme, parts.keybindings, done)
            if inspect.isawaitable(component):
                component = await component
        except Exception as error:  # a plugin's factory
            parts.report(self._owner, "custom", error)
            return None
        if answer.done():
            return answer.result()
        held = Held(parts, self._owner, component, done)
        parts.open.append(held)
        try:
            if overlay:
                handle = repl.overlays.show(held, options, done)
                if on_handle is not None:
                    on_handle(handle)
            else:
                repl.stage.show(held)
            return await answer
        finally:
            parts.open.remove(held)
            place.close(held)

    def set_widget(
        self,
        key: str,
        content: Any,
        *,
        placement: str = "above_editor",
        actions: Sequence[Mapping[str, str]] = (),
    ) -> None:
        """Lines or a component beside the editor."""
        self._repl.ui.parts.set_widget(self._owner, key, content, placement, actions)
        self._repl.draw()

    def set_footer(self, factory: Callable[..., Any] | None) -> None:
        """A component in the footer's place."""
        parts = self._repl.ui.parts
        parts.footer = parts.slot(self._owner, "its footer", factory)
        self._repl.draw()

    def set_header(self, factory: Callable[..., Any] | None) -> None:
        """A component at the start of the conversation."""
        parts = self._repl.ui.parts
        parts.header = parts.slot(self._owner, "its header", factory)
        self._repl.draw()

    # --- the editor --------------------------------------------------------------------------------------------------

    def set_editor_component(self, factory: Callable[..., Any] | None) -> None:
        """Another editor."""
        self._repl.editors.use(self._owner, factory)
        self._repl.draw()

    def get_editor_component(self) -> Callable[..., Any] | None:
        """The factory of the editor in use."""
        return self._repl.editors.factory

    def add_autocomplete_provider(self, factory: Callable[[Any], Any]) -> Callable[[], None]:
        """Stacks a provider of completions."""
        owner = self._owner
        report = self._repl.ui.parts.report
        return self._repl.completer.add(factory, lambda error: report(owner, "its completions", error))

    # --- themes ------------------------------------------------------------------------------------------------------

    @property
    def theme(self) -> Theme:
        """The theme in use."""
        return self._repl.look.theme

    def all_themes(self) -> Sequence[Mapping[str, str]]:
        """Name and path of each theme."""
        found = self._repl.themes.found(self._owner.runtime).by_name
        return [{"name": name, "path": theme.path} for name, theme in found.items()]

    def get_theme(self, name: str) -> Theme | None:
        """A theme without switching to it."""
        return self._repl.themes.found(self._owner.runtime).by_name.get(name)

    def set_theme(self, theme: Any) -> tuple[bool, str]:
        """Switches for this session."""
        if isinstance(theme, str):
            found = self.get_theme(theme) or (self._repl.themes.fitting() if theme == AUTO else None)
            if found is None:
                known = ", ".join(one["name"] for one in self.all_themes())
                return False, f"there is no theme {theme}; there are {known}"
            theme = found
        if not isinstance(theme, Theme):
            return False, f"a theme is a name or a Theme, not {type(theme).__name__}"
        self._repl.themes.of_plugin = True
        self._repl.themes.use(theme)
        return True, ""
