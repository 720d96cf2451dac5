"""The App: what lives as long as the process, and the one Runtime that is in force.

New, resumed, forked and reloaded sessions all go one way through `_replace`. Must not know a mode, a screen or a
plugin.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from zot_core.config.auth import Auth, Credential
from zot_core.config.boot import BootCache
from zot_core.config.paths import Paths
from zot_core.config.problems import Problem
from zot_core.config.secrets import expanded, needs_command
from zot_core.config.settings import load_settings
from zot_core.frontend import FrontEnd, Note
from zot_core.plugins.diagnostics import Diagnostic, Diagnostics
from zot_core.plugins.errors import PluginLoadError
from zot_core.plugins.loader import Loader
from zot_core.runtime import opening, replacing
from zot_core.runtime.ahead import Ahead
from zot_core.runtime.options import Options as Options
from zot_core.runtime.retiring import retire
from zot_core.runtime.runs import UNSENT
from zot_core.runtime.runtime import Runtime, diagnostic_note
from zot_core.types.content import Image
from zot_core.types.specs import ProviderSpec, resolve

if TYPE_CHECKING:
    from zot_core.agent.cancel import Signal
    from zot_core.agent.loop import RunEnd
    from zot_core.models.discovery import Discovery
    from zot_core.net.client import HttpClient
    from zot_core.runtime.credentials import Credentials
    from zot_core.runtime.replacing import ReloadReport
    from zot_core.types.specs import ToolResult


class App:
    """One process of zot. Made by `open`, ended by `close`; `runtime` changes when a session is replaced."""

    runtime: Runtime

    def __init__(self, options: Options, front: FrontEnd) -> None:
        self.options = options
        self.front = front
        self.paths = Paths.find()
        self.boot = BootCache(self.paths.boot)
        self.diagnostics = Diagnostics()
        self.loader = Loader(self.diagnostics)
        self.auth = Auth(self.paths, flag=options.api_key)
        self.trust_decisions: dict[str, bool] = {}
        self.failed: list[PluginLoadError] = []
        self.lifecycle = asyncio.Lock()
        self.session_dir_setting = ""
        self.custom_prompt: str | None = options.system_prompt
        self._told: set[str] = set()
        self._client: HttpClient | None = None
        self._discovery: Discovery | None = None
        self._credentials: Credentials | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._commands: set[asyncio.Task[Any]] = set()
        self.ahead = Ahead()
        self.closed = False
        self._asked_to_end = asyncio.Event()
        self.keep_sessions = False
        """Whether new sessions are kept in any case: RPC's `new_session` asks for a file."""
        self.renewing = False
        """Whether a Runtime is being built for a reload: plugins that outlast sessions are started anew."""

    @classmethod
    async def open(cls, options: Options, front: FrontEnd) -> App:
        """Loads plugins, decides on trust, opens the session, and tells `session_start`.

        Raises UsageError for a wrong option, SessionError for a session that cannot be opened.
        """
        app = cls(options, front)
        app.diagnostics.subscribe(lambda diagnostic: front.note(diagnostic_note(diagnostic)))
        app.problems([*app.paths.ensure(), *app.paths.check_modes()])
        settings = load_settings(app.paths, cache=app.boot)
        app.session_dir_setting = settings.values.session_dir
        if app.custom_prompt is None:
            app.custom_prompt = opening.system_md(app)
        session, reason = opening.open_session(app)
        try:
            app.runtime = await replacing.prepare(app, session, opening.project_dir(app, session))
            await replacing.begin(app, reason)
        except BaseException:
            session.close()
            if hasattr(app, "runtime"):
                host = app.runtime.host
                del app.runtime
                await retire(app, host)
            await app._end_process()
            raise
        return app

    # --- prompts -----------------------------------------------------------------------------------------------------

    async def prompt(
        self,
        text: str,
        images: Sequence[Image] = (),
        source: Literal["interactive", "rpc", "extension"] = "interactive",
    ) -> RunEnd | None:
        """Runs a prompt, or the slash command that it begins with, and everything that follows from it.

        Answers how the last run ended; None when a plugin dealt with the prompt itself and nothing ran. Raises
        UsageError for a command that this mode cannot run, RunFailed for one that broke.
        """
        if source != "extension":
            self.runtime.activity.emit("user_activity", "prompt")
        before = (await replacing.open_runs(self)).last
        if await self.run_command(text, images):
            end = None
        else:
            end = await replacing.sent(self, lambda runs: runs.prompt(text, images, source))
        await self.wait_for_idle()
        runs = self.runtime.runs
        if end is UNSENT:
            return end
        return runs.last if runs.last is not before else end

    async def again(self) -> RunEnd:
        """Asks the model once more, over the conversation as it stands: after a failure, or with another model."""
        return await self.runtime.runs.again()

    async def wait_for_idle(self) -> None:
        """Returns when nothing runs, commands that plugins sent included, whichever session they left behind."""
        await self.runtime.runs.wait_for_idle()
        while self._commands:
            await asyncio.wait(self._commands)
            await self.runtime.runs.wait_for_idle()

    async def run_command(self, text: str, images: Sequence[Image] = ()) -> bool:
        """Runs the slash command that `text` begins with; False when it names none."""
        if not text.startswith("/"):
            return False
        from zot_core.runtime.commands import run_command

        return await run_command(self, text, images)

    def is_command(self, text: str) -> bool:
        """Whether `text` begins with the name of a slash command."""
        name = text[1:].split(maxsplit=1)[:1] if text.startswith("/") and not text[1:2].isspace() else []
        return bool(name) and self.runtime.commands.row(name[0]) is not None

    def start_command(self, text: str, images: Sequence[Image] = ()) -> bool:
        """Starts the slash command that `text` begins with and does not wait for it; False when it names none."""
        if not self.is_command(text):
            return False
        task = self.create_task(self.run_command(text, images), "zot:" + text.split(maxsplit=1)[0])
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        return True

    async def steer(self, text: str, images: Sequence[Image] = ()) -> RunEnd | None:
        """Lets a message join the run after its present batch of tools; with no run it is a prompt. Answers how that
        ended, None when it waits or a plugin dealt with it."""
        return await self._join(text, images, "steer")

    async def follow_up(self, text: str, images: Sequence[Image] = ()) -> RunEnd | None:
        """Lets a message follow when the run has nothing left to do; with no run it is a prompt. Answers as `steer`."""
        return await self._join(text, images, "follow_up")

    async def compact(self, instructions: str = "") -> bool:
        """Puts a summary in the place of the older part of the conversation, once nothing runs; False when a plugin
        refused it or it was aborted. Raises UsageError when there is nothing to compact, RunFailed when the summary
        failed; then nothing has changed."""
        return await self.runtime.compactor.run("manual", instructions)

    async def user_bash(self, command: str, *, keep: bool, signal: Signal, update: Callable[[str], None]) -> ToolResult:
        """Runs a person's own shell command; with `keep` the model reads it and its output with the next request.
        Raises RunFailed when a plugin refused it."""
        from zot_core.runtime.shelling import user_bash

        return await user_bash(self.runtime, command, keep=keep, signal=signal, update=update)

    def abort(self, reason: str = "user") -> None:
        """Ends the run that goes on."""
        self.runtime.runs.abort(reason)

    def shutdown(self) -> None:
        """Asks the mode to end zot once nothing runs, as a person who leaves does; print and JSON mode end anyway."""
        self._asked_to_end.set()

    async def asked_to_end(self) -> None:
        """Returns when somebody has asked for the end and nothing runs."""
        await self._asked_to_end.wait()
        await self.wait_for_idle()

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs and nothing waits to run."""
        return self.runtime.runs.idle

    # --- replacing the session ---------------------------------------------------------------------------------------

    async def new_session(self) -> bool:
        """Starts a new session; False when a plugin blocked it."""
        return await replacing.new(self)

    async def switch_session(self, path: str) -> bool:
        """Goes on in the session at `path`; False when a plugin blocked it. Raises UsageError or SessionError."""
        return await replacing.switch(self, path)

    async def fork(self, entry_id: str, position: Literal["before", "at"] = "before") -> bool:
        """Goes on in a copy of the session up to an entry; False when a plugin blocked it. Raises UsageError."""
        return await replacing.fork(self, entry_id, position)

    async def reload(self, what: Literal["all", "extensions"] = "all") -> ReloadReport:
        """Loads settings and plugins anew, or only extensions and their processes, and goes on with the same
        session."""
        return await replacing.reload(self, what)

    async def close(self, reason: Literal["quit"] = "quit") -> None:
        """Ends the run, tells plugins, ends what they started, closes the session. Safe to call twice."""
        if self.closed:
            return
        self.closed = True
        try:
            await replacing.finish(self, reason)
        finally:
            await self._end_process()

    # --- what Runtimes lean on ---------------------------------------------------------------------------------------

    def create_task(self, coro: Coroutine[Any, Any, Any], name: str, awaited: bool = False) -> asyncio.Task[Any]:
        """A task that outlives the Runtime it was started from, such as a command that replaces it. How it fails is
        noted, unless it is `awaited`: then its failure is the caller's to tell."""
        # A context of its own: it is no part of the run or the dispatch that it was started from.
        task = asyncio.get_running_loop().create_task(coro, name=name, context=contextvars.Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard if awaited else self._task_done)
        return task

    def client(self) -> HttpClient:
        """The process's HTTP client, made when first needed."""
        if self._client is None:
            from zot_core.net.client import HttpClient, Timeouts

            # A list of models may be asked for before the first Runtime is in force
            made = hasattr(self, "runtime")
            http = (self.runtime.settings if made else load_settings(self.paths, cache=self.boot)).values.http
            timeouts = Timeouts(connect=http.connect_timeout_s, idle=http.idle_timeout_s)
            if log := os.environ.get("ZOT_LOG_HTTP", "").strip():
                from zot_core.net.http_log import LoggedClient

                self._client = LoggedClient(
                    log, lambda text: self.note(text, "warning"), timeouts, proxy=http.proxy, verify=http.verify_tls
                )
            else:
                self._client = HttpClient(timeouts, proxy=http.proxy, verify=http.verify_tls)
        return self._client

    @property
    def discovery(self) -> Discovery:
        """The way to the models that providers list themselves, made when first needed."""
        if self._discovery is None:
            from zot_core.runtime.live import discovery

            self._discovery = discovery(self)
        return self._discovery

    @property
    def credentials(self) -> Credentials:
        """The doors through which a key or a login is tried, kept and forgotten, made when first needed."""
        if self._credentials is None:
            from zot_core.runtime.credentials import Credentials

            self._credentials = Credentials(self)
        return self._credentials

    async def list_models(self, named: str = "") -> None:
        """Asks the providers that there is a credential for, and the one `named`, which models they serve; what they
        say joins the registry, what fails is noted."""
        from zot_core.runtime.live import list_all

        await list_all(self.runtime, named)

    def credential(self, provider: ProviderSpec) -> Credential | Awaitable[Credential | None] | None:
        """The provider's credential, or None. Raises RunFailed (kind auth) for one that cannot be used."""
        use_flag = self._is_chosen(provider)
        if provider.oauth is not None and self._stale(provider):
            from zot_core.runtime.renewing import renewed

            return renewed(self, provider, resolve(provider.oauth))
        if needs_command(provider.api_key) or self.auth.may_run_command(provider.id):
            # A key command may take seconds; the loop goes on meanwhile.
            return asyncio.to_thread(self.auth.find, provider.id, provider.env, provider.api_key, use_flag)
        return self.auth.find(provider.id, provider.env, provider.api_key, use_flag)

    def has_credential(self, provider: ProviderSpec) -> bool:
        """Whether a model of this provider could be asked, as far as can be told without running a command."""
        if provider.keyless or provider.authorize is not None:
            return True  # what `authorize` finds is known when it is asked; `looks_usable` has less trust
        if self.auth.has(provider.id, provider.env, provider.api_key, self._is_chosen(provider)):
            return True
        return provider.oauth is not None and self._stale(provider)

    def looks_usable(self, provider: ProviderSpec) -> bool:
        """Whether the provider's models belong into a list of those that can be used."""
        if provider.signs is None or self.auth.has(provider.id, provider.env, provider.api_key, False):
            return self.has_credential(provider)
        return bool(resolve(provider.signs)())

    def credential_source(self, provider: ProviderSpec) -> str:
        """Where the provider's credential comes from, in words; "" where there is none."""
        return self.auth.where(provider.id, provider.env, provider.api_key, self._is_chosen(provider))

    def auth_missing(self, provider: ProviderSpec) -> str:
        """What to tell a person who has no key for `provider`."""
        return self.auth.missing(provider.id, provider.env, provider.api_key)

    def expand(self, text: str) -> str:
        """A header's value from models.json with `$VAR`, `${VAR}` and `!command` resolved. Raises RunFailed."""
        return expanded(text, "a header in models.json")

    def note(self, text: str, level: Literal["info", "success", "warning", "error"] = "info") -> None:
        """Zot's own word to the person."""
        self.front.note(Note(source="", text=text, level=level, kind="diagnostic"))

    def problems(self, problems: Iterable[Problem]) -> None:
        """Says what is wrong with the person's files, each thing once."""
        for problem in problems:
            if str(problem) not in self._told:
                self._told.add(str(problem))
                self.note(str(problem), problem.level)

    def load_failed(self, error: PluginLoadError) -> None:
        """Says that a plugin could not be loaded; `zot doctor` says it again."""
        self.failed.append(error)
        where = f" ({error.origin})" if error.origin else ""
        message = f"could not be loaded{where}: {error.reason}"
        self.diagnostics.report(Diagnostic("error", error.plugin, "", message, error.traceback))

    def shutdown_limits(self) -> tuple[float, float]:
        """Seconds after which a handler that ends something is warned of, and cancelled; 0 is never."""
        # A Runtime may fail before there is one in force
        settings = self.runtime.settings if hasattr(self, "runtime") else load_settings(self.paths, cache=self.boot)
        shutdown = settings.values.shutdown
        return shutdown.handler_warn_ms / 1000, shutdown.handler_timeout_ms / 1000

    @property
    def keeps_sessions(self) -> bool:
        """Whether this process was asked to keep its sessions (RPC keeps none unless asked)."""
        options = self.options
        return self.keep_sessions or bool(
            options.session or options.continue_session or options.resume is not None or options.fork
        )

    async def _join(self, text: str, images: Sequence[Image], delivery: Literal["steer", "follow_up"]) -> RunEnd | None:
        self.runtime.activity.emit("user_activity", "prompt")
        end = await replacing.sent(self, lambda runs: runs.queue(text, images, self._source, delivery))
        if end is not None and end.failure is not None:
            self.note(
                f"{text!r} was not sent: {end.failure.message}" if end.stop == "blocked" else end.failure.message,
                "error",
            )
        return end

    @property
    def _source(self) -> Literal["interactive", "rpc"]:
        return "rpc" if self.front.mode == "rpc" else "interactive"

    def _is_chosen(self, provider: ProviderSpec) -> bool:
        """--api-key is for the provider of the run, whichever that is."""
        chosen = getattr(self.runtime, "choice", None) if hasattr(self, "runtime") else None
        if chosen is None or chosen.provider is None:
            return not self.options.provider or self.options.provider == provider.id
        return bool(chosen.takes_key(provider.id))

    def _stale(self, provider: ProviderSpec) -> bool:
        """Whether the provider's credential is a login that has to be renewed first."""
        if self.auth.stale_login(provider.id) is None:
            return False
        return not self.auth.has(provider.id, provider.env, "", self._is_chosen(provider))

    def _task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.note(f"{task.get_name()} failed: {error}", "error")

    async def _end_process(self) -> None:
        self.ahead.stop()
        for task in tuple(self._tasks):
            task.cancel()
        if self._client is not None:
            await self._client.aclose()
        self.problems(self.boot.save())
