"""An OAuth server of our own on loopback: a page that agrees or refuses, device codes, tokens, renewal.

It checks what a real one checks (client, redirect, PKCE, one use of a code), and its pages below `/v1` want the token
or the key. `refuse` and `polls` say how it is to behave; what it was sent is kept.

    with OAuthServer() as server: ...server.authorize_url, server.token_url, server.device_url
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

CLIENT = "zot-test-client"
ACCESS, REFRESH = "access-token-of-the-login-aaaa", "refresh-token-of-the-login-bbbb"
DEVICE_CODE, USER_CODE = "device-code-cccc-dddd", "WDJB-MJHT"
KEY = "key-that-is-good-eeee"
SECRETS = (ACCESS, REFRESH, DEVICE_CODE, KEY)


class OAuthServer:
    """`polls` are the errors of the next device polls, then comes the token."""

    def __init__(self) -> None:
        self.refuse = False
        self.polls: list[str] = []
        self.device: dict[str, Any] = {"expires_in": 900, "interval": 5}
        self.token: dict[str, Any] = {"access_token": ACCESS, "refresh_token": REFRESH, "expires_in": 3600}
        self.pages: list[dict[str, str]] = []
        self.forms: list[dict[str, str]] = []
        self.keys: list[str] = []
        self.codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self.authorize_url, self.token_url = f"{self.url}/authorize", f"{self.url}/token"
        self.device_url = f"{self.url}/device"

    def __enter__(self) -> OAuthServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def authorize(self, page: dict[str, str]) -> str:
        """Where the browser is sent on to."""
        self.pages.append(page)
        back = page.get("redirect_uri") or page.get("callback_url", "")
        assert urlsplit(back).hostname in ("127.0.0.1", "localhost")
        state = {"state": page["state"]} if "state" in page else {}
        if self.refuse:
            return f"{back}?{urlencode({'error': 'access_denied', **state})}"
        assert page["code_challenge_method"] == "S256" and len(page["code_challenge"]) == 43
        code = f"code-{len(self.codes)}-ffff"
        self.codes[code] = page
        return f"{back}?{urlencode({'code': code, **state})}"

    def post(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        """The answer to a form."""
        self.forms.append(form)
        if path == "/device":
            wanted = {"device_code": DEVICE_CODE, "user_code": USER_CODE, "verification_uri": f"{self.url}/type"}
            return 200, {**wanted, **self.device}
        if path == "/keys":
            return (200, {"key": KEY}) if self._redeem(form) else (403, {"error": "Invalid code or code_verifier"})
        if form.get("client_id") != CLIENT:
            return 401, {"error": "invalid_client"}
        if form["grant_type"] == "authorization_code":
            page = self._redeem(form)
            if page is None or page["redirect_uri"] != form["redirect_uri"]:
                return 400, {"error": "invalid_grant", "error_description": f"{form['code']} is not known"}
            return 200, self.token
        if form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code":
            assert form["device_code"] == DEVICE_CODE
            return (400, {"error": self.polls.pop(0)}) if self.polls else (200, self.token)
        assert form["grant_type"] == "refresh_token"
        return 200, {"access_token": f"{ACCESS}-renewed", "refresh_token": f"{REFRESH}-renewed", "expires_in": 3600}

    def _redeem(self, form: dict[str, str]) -> dict[str, str] | None:
        page = self.codes.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        right = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        return page if page is not None and page["code_challenge"] == right else None


def _handler(server: OAuthServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/authorize":
                self.send_response(302)
                self.send_header("location", server.authorize(_flat(parts.query)))
                self.send_header("content-length", "0")
                self.end_headers()
                return
            sent = (self.headers.get("authorization") or "").removeprefix("Bearer ")
            server.keys.append(sent)
            good = sent in (KEY, ACCESS)
            self._answer(200 if good else 401, {"data": [{"id": "large"}]} if good else {"error": f"bad key {sent}"})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            is_json = "json" in self.headers["content-type"]
            self._answer(*server.post(self.path, json.loads(body) if is_json else _flat(body)))

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing is printed."""

    return Handler


def _flat(query: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(query).items()}


def visit(url: str) -> tuple[int, str]:
    """What a browser does with an address: follows it to the end; the last page's status and text."""
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, build_opener

    try:
        with build_opener(ProxyHandler({})).open(url, timeout=10) as page:
            return page.status, page.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()
