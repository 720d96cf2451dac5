"""A redactor: what looks like a secret reaches neither the model nor the screen.

    zot --plugin redact_secrets.py -p "What is in .env?"

`on_error="block"` makes it strict: should this code break, the text is withheld instead of let through.
"""

import re
from dataclasses import replace

from zot_core import Text, hookimpl

SECRET = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}"  # keys of several model providers
    r"|gh[pousr]_[A-Za-z0-9]{20,}"  # GitHub tokens
    r"|AKIA[0-9A-Z]{16}"  # AWS key ids
    r"|(?<=[Pp]assword=)\S+"
)


def redact(text: str) -> str:
    """`text` with every secret replaced by `[secret]`."""
    return SECRET.sub("[secret]", text)


@hookimpl(on_error="block")
def tool_result(event):
    content = tuple(replace(b, text=redact(b.text)) if isinstance(b, Text) else b for b in event.content)
    if content != event.content:
        return event.replace(content=content, details=None)  # details may repeat the text
    return None


@hookimpl(on_error="block")
def assistant_message(event):
    text = redact(event.text)
    return event.replace(text=text) if text != event.text else None
