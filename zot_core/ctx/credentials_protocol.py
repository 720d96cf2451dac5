"""The type of `ctx.credentials`. Knows no file and no provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from zot_core.types.login import Probed, Tokens
    from zot_core.types.specs import ProviderSpec


class Credentials(Protocol):
    """The doors to the person's keys and logins. None is given out: only where it is. What is kept is in use from the
    next request on."""

    @property
    def offline(self) -> bool:
        """Whether nothing but the chosen model may be asked."""

    @property
    def file(self) -> Path:
        """Where keys and logins are kept: auth.json."""

    def providers(self) -> Sequence[ProviderSpec]:
        """Every provider, by name."""

    def provider(self, provider: str) -> ProviderSpec:
        """The provider of that name. Raises UsageError, naming those that are near."""

    def where(self, provider: str) -> str:
        """Where the provider's credential comes from, in words; "" where there is none."""

    def stored(self) -> Sequence[str]:
        """The providers that auth.json has a key or a login for."""

    def problems(self) -> Sequence[str]:
        """Why nothing can be kept in auth.json; none where it can."""

    async def probe(self, provider: str, key: str) -> Probed:
        """Tries a key by the cheapest question that there is. Raises UsageError for one that no request can carry."""

    async def store_key(self, provider: str, key: str) -> None:
        """Keeps a key in place of what auth.json had for the provider. Raises UsageError, SaveRefused."""

    async def store_login(self, provider: str, tokens: Tokens) -> None:
        """Keeps a login in place of what auth.json had for the provider. Raises SaveRefused."""

    async def forget(self, provider: str) -> bool:
        """Takes out of auth.json what it has for the provider; False for nothing. Raises SaveRefused."""

    async def post(
        self, url: str, fields: Mapping[str, str], *, as_json: bool = False
    ) -> tuple[int, Mapping[str, Any]]:
        """Sends a form, or JSON, to an authorization server: status and JSON object of the answer, {} for another body.
        Raises RunFailed: kind network, or bad_request for an address that is neither https nor on loopback."""

    def open_page(self, url: str) -> bool:
        """Opens a page in the person's browser, which gets no credential from here; False where there is none."""
