"""A process that asks for one credential: `python oauth_client.py TOKEN_URL [CLIENT_ID]` prints the token it got."""

from __future__ import annotations

import asyncio
import os
import sys

from zot_core import ProviderSpec
from zot_core.testing.session import open_app
from zot_core.types.login import OAuthSpec


async def main() -> None:
    spec = ProviderSpec(id="acme", oauth=OAuthSpec(token_url=sys.argv[1], client_id=(*sys.argv[2:], "zot")[0]))
    async with open_app() as app:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        found = app.credential(spec)
        credential = await found if asyncio.iscoroutine(found) else found
        print(credential.key if credential is not None else f"nothing in {os.environ['ZOT_HOME']}", flush=True)


asyncio.run(main())
