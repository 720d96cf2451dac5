"""How a tool says no: one error class for models, and plain words for what the system refused.

An error's text goes to the model, so it says what to do next. Faults of a tool itself are no `ToolError`.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from zot_core.types.content import as_content
from zot_core.types.failure import ZotError
from zot_core.types.specs import ToolResult

A = TypeVar("A")
C = TypeVar("C")

_WORDS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOENT: "not found",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder",
    errno.ELOOP: "too many links (a loop?)",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "it would be larger than this system or user may make files",
    errno.EROFS: "the file system is read-only",
    errno.EBUSY: "it is busy or a mount point; change it with a shell command instead",
    errno.ETXTBSY: "it is a program that is running",
    errno.EMFILE: "too many open files",
}


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_SURROGATE = re.compile("[\ud800-\udfff]")


class ToolError(ZotError):
    """A tool could not do what it was asked; the text is for the model and names the next step.

    `details` goes into the result's details.
    """

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.details = details


def in_words(error: OSError) -> str:
    """What an operating-system error means, in a few words."""
    return _WORDS.get(error.errno or 0) or (error.strerror or str(error) or type(error).__name__)


def about(action: str, shown_path: str, error: OSError) -> ToolError:
    """The error for a file operation that the system refused: `Cannot read a.txt: permission denied`."""
    more = "; the file is as it was" if error.errno in _FULL else ""
    return ToolError(f"Cannot {action} {shown_path}: {in_words(error)}{more}")


def tool_errors(execute: Callable[[A, C], Awaitable[ToolResult]]) -> Callable[[A, C], Awaitable[ToolResult]]:
    """Decorates a tool's `execute`: a raised `ToolError` becomes an error result, and so does what the system refuses.

    Anything else passes through. A tool that can say more of an `OSError` raises `about` itself.
    """

    @wraps(execute)
    async def answered(args: A, ctx: C) -> ToolResult:
        try:
            return await execute(args, ctx)
        except ToolError as error:
            return ToolResult(content=as_content(str(error)), is_error=True, details=error.details)
        except OSError as error:
            where = f"{shown(name)}: " if isinstance(name := error.filename, str) else ""
            return ToolResult(content=as_content(f"The system refused: {where}{in_words(error)}"), is_error=True)

    return answered


def shown(path: str | os.PathLike[str]) -> str:
    """A path as text that can be printed: names that are no valid text get U+FFFD, control characters are escaped."""
    text = _SURROGATE.sub("\ufffd", os.fspath(path))
    return "".join(repr(char)[1:-1] if ord(char) < 32 or ord(char) == 127 else char for char in text)
