"""`/login` over RPC: the client is asked for the key as for a secret, and no line, error or file repeats it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.oauth_server import ACCESS, CLIENT, KEY, SECRETS, OAuthServer, visit
from support.rpc_client import RpcClient

PLUGIN = """
from zot_core import ModelSpec, ProviderSpec, hookimpl
from zot_core.types.login import OAuthSpec

@hookimpl
def providers():
    return [
        ProviderSpec(id="acme", name="Acme", base_url="{url}/v1", env=("ACME_API_KEY",),
                     models=(ModelSpec(id="large", provider="acme"),)),
        ProviderSpec(id="zeta", name="Zeta", base_url="{url}/v1",
                     oauth=OAuthSpec(authorize_url="{url}/authorize", token_url="{url}/token", client_id="{client}")),
    ]
"""


def test_a_key_and_a_login_go_there_and_back(
    rpc: Callable[..., RpcClient], plugin: Callable[..., str], isolated: Path
) -> None:
    with OAuthServer() as server:
        client = rpc("--plugin", plugin(PLUGIN.format(url=server.url, client=CLIENT), "acme"))
        sent = client.send("command", name="login", args="acme")
        request = client.wait("ui_request")
        assert (request["method"], request["hidden"]) == ("input", True)
        wrong = client.refused("ui_response", request_id=request["request_id"], value=KEY, confirmed=True)
        assert KEY not in wrong
        assert KEY not in client.refused("ui_response", request_id=request["request_id"], value=[KEY])
        client.ok("ui_response", request_id=request["request_id"], value=KEY)
        assert client.response(sent)["success"] is True
        assert "Acme takes it." in client.of("ext_display")[-1]["text"]

        sent = client.send("command", name="login", args="zeta")
        page = client.wait("ext_display")["text"].split()[-1]
        request = client.wait("ui_request")
        assert request["hidden"] is True
        assert visit(page)[0] == 200
        gone = client.wait("ui_dismissed")
        assert gone["request_id"] == request["request_id"]
        assert client.response(sent)["success"] is True
        stored = json.loads((isolated / "home" / "auth.json").read_text())
        assert stored["acme"] == {"api_key": KEY} and stored["zeta"]["access"] == ACCESS

        sent = client.send("command", name="logout")
        request = client.wait("ui_request")
        assert request["options"] == ["acme", "zeta"]
        client.ok("ui_response", request_id=request["request_id"], value="acme")
        client.ok("ui_response", request_id=client.wait("ui_request")["request_id"], confirmed=True)
        assert client.response(sent)["success"] is True
        assert list(json.loads((isolated / "home" / "auth.json").read_text())) == ["zeta"]
        assert client.close() == 0
    said = json.dumps(client.seen) + "".join(client.errors)
    assert [one for one in SECRETS if one in said] == []


def test_an_input_that_is_no_secret_says_so(rpc: Callable[..., RpcClient], plugin: Callable[..., str]) -> None:
    asks = "from zot_core import CommandSpec, hookimpl\n\nasync def ask(args: str, ctx: Any):\n".replace(": Any", "")
    asks += "    return await ctx.ui.input('Name')\n\n@hookimpl\ndef commands():\n"
    asks += "    return CommandSpec(name='ask', handler=ask)\n"
    client = rpc("--plugin", plugin(asks, "asks"))
    client.send("command", name="ask")
    request: dict[str, Any] = client.wait("ui_request")
    assert request["hidden"] is False
    client.ok("ui_response", request_id=request["request_id"], value="Ada")
