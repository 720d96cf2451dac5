"""A PDF's text, page by page as it is asked for. Imports pypdf, so it is imported only when a PDF is read."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from zot_core.toolkit.errors import ToolError
from zot_core.toolkit.text import without_controls

PDF_BYTES = 64 << 20
"""A PDF file larger than this is not opened."""
_KEPT_DOCUMENTS = 2
_KEPT_CHARS = 4_000_000
"""How much text of a document is kept for the next call, which mostly asks for its next lines."""
_EMPTY_PAGES = 100
"""A document that begins with so many pages without text is taken as scanned."""

# pypdf warns of every small flaw; without a handler Python would print that onto the screen.
logging.getLogger("pypdf").addHandler(logging.NullHandler())


@dataclass(slots=True)
class _Pages:
    """The pages of one document that were extracted so far."""

    texts: list[str] = field(default_factory=list)
    chars: int = 0


_kept: OrderedDict[bytes, _Pages] = OrderedDict()


async def pages(data: bytes, name: str) -> AsyncIterator[str]:
    """The text of each page under a line that names it.

    Raises ToolError for what is encrypted, damaged, or has no text.
    """
    reader, count = await asyncio.to_thread(_opened, data, name)
    key = hashlib.sha256(data).digest()
    kept = _kept.setdefault(key, _Pages())
    _kept.move_to_end(key)
    while len(_kept) > _KEPT_DOCUMENTS:
        _kept.popitem(last=False)
    waiting: list[str] = []
    seen = False
    for number in range(count):
        if number < len(kept.texts):
            text = kept.texts[number]
        else:
            text = await asyncio.to_thread(_text, reader, number)
            if number == len(kept.texts) and kept.chars + len(text) <= _KEPT_CHARS:
                kept.texts.append(text)
                kept.chars += len(text)
        seen = seen or bool(text)
        waiting.append(f"--- page {number + 1} of {count} ---\n{text or '(no text on this page)'}\n\n")
        if seen:
            yield "".join(waiting)
            waiting.clear()
        elif len(waiting) >= _EMPTY_PAGES:
            break
    if not seen:
        raise ToolError(
            f"{name} is a PDF of {count} pages without text, most likely scanned. Make pictures of its pages with a "
            "shell command (pdftoppm -r 100 -png) and read those."
        )


def _opened(data: bytes, name: str) -> tuple[PdfReader, int]:
    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not _unlocked(reader):
            raise ToolError(
                f"{name} is an encrypted PDF. With its password a shell command can decrypt it (qpdf --decrypt)."
            )
        return reader, len(reader.pages)
    except ToolError:
        raise
    except Exception as error:  # a damaged file can make the parser raise anything
        why = str(error) or type(error).__name__
        raise ToolError(f"{name} is a damaged PDF: {why}. Try pdftotext or qpdf in a shell.") from error


def _unlocked(reader: PdfReader) -> bool:
    """Whether it opens without a password; many files are encrypted only to forbid printing."""
    try:
        return bool(reader.decrypt(""))
    except (PyPdfError, ImportError):
        return False  # a cipher for which pypdf would need another library


def _text(reader: PdfReader, number: int) -> str:
    try:
        text = reader.pages[number].extract_text()
    except Exception as error:  # see above; other pages may be well
        return f"(this page cannot be read: {str(error) or type(error).__name__})"
    return without_controls(text.encode("utf-8", "replace").decode()).strip()
