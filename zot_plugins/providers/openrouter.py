"""How people log in to OpenRouter: a page of its own gives this machine an API key, with PKCE and without a client id.

Documented for programs of anybody, on any port of localhost: openrouter.ai/docs/guides/overview/auth/oauth (2026-11).
"""

from __future__ import annotations

from zot_core.types.failure import Failure, RunFailed
from zot_core.types.login import LoginCode, OAuthSpec

KEYS_URL = "https://openrouter.ai/api/v1/auth/keys"


async def exchange(code: LoginCode) -> str:
    """The API key for a code. Raises RunFailed (kind auth)."""
    fields = {"code": code.code, "code_verifier": code.verifier, "code_challenge_method": "S256"}
    status, answer = await code.post_json(KEYS_URL, fields)
    key = answer.get("key")
    if not 200 <= status < 300 or not isinstance(key, str) or not key:
        raise RunFailed(Failure(kind="auth", message=f"OpenRouter gave no key: it answered {status}", status=status))
    return key


LOGIN = OAuthSpec(
    authorize_url="https://openrouter.ai/auth",
    authorize_params={"response_type": ""},
    redirect_host="localhost",
    redirect_param="callback_url",
    state_in="path",
    exchange=exchange,
    notice="OpenRouter makes an API key for zot in your account. What zot asks is paid from your credits, under "
    "OpenRouter's terms. The key stays until you delete it on openrouter.ai/settings/keys.",
)
