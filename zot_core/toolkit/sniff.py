"""What a file is, told by its first bytes: a picture, some other binary, or text. Names and endings do not count."""

from __future__ import annotations

from zot_core.toolkit.encoding import marked

HEAD_BYTES = 8192
"""How much of a file's beginning is looked at."""

_BINARIES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "a zip archive (or an office document); list it with unzip -l"),
    (b"\x1f\x8b", "gzip data; look inside with zcat or tar -tzf"),
    (b"BZh", "bzip2 data; look inside with bzcat"),
    (b"\xfd7zXZ\x00", "xz data; look inside with xzcat"),
    (b"\x28\xb5\x2f\xfd", "zstd data; look inside with zstdcat"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\x00", "a SQLite database; query it with sqlite3"),
    (b"\x7fELF", "a compiled program"),
    (b"\xcf\xfa\xed\xfe", "a compiled program"),
    (b"\xca\xfe\xba\xbe", "compiled code"),
    (b"\x00asm", "a WebAssembly module"),
    (b"BM", "a bitmap picture; convert it to PNG first"),
    (b"II*\x00", "a TIFF picture; convert it to PNG first"),
    (b"MM\x00*", "a TIFF picture; convert it to PNG first"),
)


def image_type(head: bytes) -> str | None:
    """The MIME type of a picture that models take (PNG, JPEG, GIF, WebP), or None."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def is_pdf(head: bytes) -> bool:
    """Whether it is a PDF; some have a few other bytes before their mark."""
    return head.startswith(b"%PDF-") or (head.find(b"%PDF-", 0, 1024) >= 0 and b"\x00" in head)


def binary_kind(head: bytes) -> str | None:
    """What a file that is no text is, in words; None for text. `head` is its first `HEAD_BYTES`."""
    if marked(head):
        return None
    if is_pdf(head):
        return _BINARIES[0][1]
    odd = sum(byte < 32 and byte not in b"\t\n\r\f\b\x1b" for byte in head)
    if 0 not in head and odd * 20 <= len(head):
        return None
    if _wide(head):
        return "most likely UTF-16 text without a mark; convert it with iconv -f UTF-16LE (or -BE) -t UTF-8"
    return next(
        (words for magic, words in _BINARIES if head.startswith(magic)),
        "a binary file; inspect it with a shell command such as xxd or file",
    )


def _wide(head: bytes) -> bool:
    """Whether nearly every second byte is NUL, and hardly any other."""
    even, odd = head[::2].count(0), head[1::2].count(0)
    return max(even, odd) * 10 >= len(head) * 4 and min(even, odd) * 50 <= len(head)
