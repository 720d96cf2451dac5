"""What a file is, told by its first bytes: a picture, some other binary, or text. Names and endings do not count."""

from __future__ import annotations

import struct

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


def image_size(data: bytes) -> tuple[int, int] | None:
    """Columns and rows of pixels by the header of a PNG, JPEG, GIF or WebP; None where there is none to be read.

    `data` may be the beginning of the file only: 64 bytes do, but for a JPEG, which may begin with other things.
    """
    kind = image_type(data)
    try:
        if kind == "image/png" and data[12:16] == b"IHDR":
            size = struct.unpack_from(">II", data, 16)
        elif kind == "image/gif":
            size = struct.unpack_from("<HH", data, 6)
        elif kind == "image/webp":
            size = _webp_size(data)
        elif kind == "image/jpeg":
            size = _jpeg_size(data)
        else:
            return None
    except (struct.error, IndexError):  # cut off
        return None
    return (size[0], size[1]) if min(size) > 0 else None


def _webp_size(data: bytes) -> tuple[int, ...]:
    form = data[12:16]
    if form == b"VP8X":
        return tuple(int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27)) if len(data) >= 30 else (0, 0)
    if form == b"VP8L" and data[20] == 0x2F:
        (bits,) = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        return tuple(side & 0x3FFF for side in struct.unpack_from("<HH", data, 26))
    return 0, 0


def _jpeg_size(data: bytes) -> tuple[int, ...]:
    """The size in the frame's own segment, behind as many others as there are."""
    at = 2
    while data[at] == 0xFF:
        mark = data[at + 1]
        if mark == 0xFF:  # filling
            at += 1
        elif 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            return struct.unpack_from(">HH", data, at + 5)[::-1]
        elif mark == 0x01 or 0xD0 <= mark <= 0xD8:  # marks without a segment
            at += 2
        else:
            at += 2 + max(struct.unpack_from(">H", data, at + 2)[0], 2)
    return 0, 0


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
