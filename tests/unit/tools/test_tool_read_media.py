"""`read` of what is no plain text: pictures as providers take them, PDFs and notebooks as text."""

from __future__ import annotations

import base64
import json
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow
from support.tool_context import FakeToolContext, run, said

from zot_core.types.content import Image
from zot_core.types.specs import ToolResult


def read(path: Path, **args: Any) -> ToolResult:
    return run("read", FakeToolContext(path.parent), path=path.name, **args)


def text_of_read(path: Path, **args: Any) -> str:
    result = read(path, **args)
    assert not result.is_error, said(result)
    return said(result)


def refusal(path: Path) -> str:
    result = read(path)
    assert result.is_error
    return said(result)


# --- pictures -------------------------------------------------------------------------------------------------------


def picture(form: str, size: tuple[int, int] = (40, 20), mode: str = "RGB", **how: Any) -> bytes:
    out = BytesIO()
    Pillow.new(mode, size, how.pop("color", None) or 0).save(out, form, **how)
    return out.getvalue()


def noise(form: str, size: tuple[int, int], **how: Any) -> bytes:
    out = BytesIO()
    Pillow.effect_noise(size, 100).convert(how.pop("mode", "RGB")).save(out, form, **how)
    return out.getvalue()


def shown(path: Path) -> tuple[Image, Any]:
    """The picture that the model gets, as block and decoded."""
    result = read(path)
    assert not result.is_error, said(result)
    block = result.content[1]
    assert isinstance(block, Image)
    data = base64.b64decode(block.data)
    assert len(block.data) <= 5_000_000
    image = Pillow.open(BytesIO(data))
    image.load()
    assert max(image.size) <= 2000
    assert Pillow.MIME[str(image.format)] == block.mime_type
    return block, image


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP"])
def test_pictures_are_told_by_content_and_kept_to_the_byte(tmp_path: Path, form: str) -> None:
    data = picture(form)
    file = tmp_path / "picture.txt"
    file.write_bytes(data)
    block, _ = shown(file)
    assert block == Image(f"image/{form.lower()}", base64.b64encode(data).decode())
    assert said(read(file)).startswith(f"picture.txt: image/{form.lower()}, 40x20, ")


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
@pytest.mark.parametrize("size", [(4000, 1000), (300, 2500)])
def test_large_pictures_are_scaled_in_their_format(tmp_path: Path, form: str, size: tuple[int, int]) -> None:
    file = tmp_path / "a"
    file.write_bytes(picture(form, size))
    block, image = shown(file)
    assert block.mime_type == f"image/{form.lower()}"
    assert image.size == ((2000, 500) if size[0] == 4000 else (240, 2000))
    assert f"[{size[0]}x{size[1]} scaled to {image.width}x{image.height}]" in said(read(file))


@pytest.mark.parametrize(("mode", "kept"), [("RGB", "image/jpeg"), ("RGBA", "image/webp")])
def test_what_compresses_badly_goes_in_another_format(tmp_path: Path, mode: str, kept: str) -> None:
    file = tmp_path / "a.png"
    file.write_bytes(noise("PNG", (1990, 1990), mode=mode))
    block, image = shown(file)
    assert block.mime_type == kept
    assert image.size == (1990, 1990)
    assert f"as {kept}" in said(read(file))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "CMYK", "I;16", "RGBA"])
def test_every_mode_can_be_scaled(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "a"
    file.write_bytes(picture("JPEG" if mode == "CMYK" else "PNG", (2100, 30), mode))
    assert shown(file)[1].size[0] == 2000


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP"])
def test_of_an_animation_the_first_frame_is_shown_and_said(tmp_path: Path, form: str) -> None:
    frames = [Pillow.new("RGB", (30, 30), color) for color in ("red", "blue", "green")]
    file = tmp_path / "a"
    frames[0].save(file, form, save_all=True, append_images=frames[1:], lossless=True)
    block, image = shown(file)
    assert block.mime_type == "image/png"
    assert image.convert("RGB").getpixel((5, 5)) == (255, 0, 0)
    assert "first frame of an animation" in said(read(file))


def test_a_photo_is_turned_upright(tmp_path: Path) -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6
    file = tmp_path / "a.jpg"
    file.write_bytes(picture("JPEG", (40, 20), exif=exif))
    assert shown(file)[1].size == (20, 40)
    assert "turned upright" in said(read(file))


def test_damaged_pictures_are_refused_with_a_word(tmp_path: Path) -> None:
    for name, data in (
        ("head", b"\x89PNG\r\n\x1a\n" + b"\0" * 400),
        ("cut", noise("PNG", (100, 100))[:-3000]),
        ("jpeg", noise("JPEG", (100, 100))[:700]),
        ("gif", b"GIF89a" + b"\0" * 20),
    ):
        (tmp_path / name).write_bytes(data)
        assert "damaged" in refusal(tmp_path / name), name


def png_of(width: int, height: int) -> bytes:
    """A tiny file that claims to be a huge picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    header = width.to_bytes(4) + height.to_bytes(4) + b"\x08\x02\0\0\0"
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [9_000, 12_000, 60_000])
def test_a_decompression_bomb_is_not_decoded(tmp_path: Path, side: int) -> None:
    (tmp_path / "a.png").write_bytes(png_of(side, side))
    words = refusal(tmp_path / "a.png")
    assert "pixels" in words
    assert "smaller copy" in words


def test_a_huge_picture_file_is_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "a.png").open("wb") as file:
        file.write(picture("PNG"))
        file.truncate(100 << 20)
    assert "is a picture of 100.0 MB; at most 64.0 MB are opened" in refusal(tmp_path / "a.png")


# --- PDFs -----------------------------------------------------------------------------------------------------------


def pdf(*pages: str) -> bytes:
    """A PDF with one line of text a page; a page without text has none."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode("latin-1") if text else b""
        objects.append(b"<< /Length %d >>\nstream\n" % len(stream) + stream + b"\nendstream")
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [" + b" ".join(kids) + b"] /Count %d >>" % len(kids)
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
        + table
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    )


def test_a_pdf_is_read_as_text_with_its_pages(tmp_path: Path) -> None:
    file = tmp_path / "doc"
    file.write_bytes(pdf("Hello page one", "", "Last words"))
    assert text_of_read(file) == (
        "--- page 1 of 3 ---\nHello page one\n\n--- page 2 of 3 ---\n(no text on this page)\n\n"
        "--- page 3 of 3 ---\nLast words\n\n\n[The text of a PDF]"
    )


def test_a_pdf_is_paged_by_lines(tmp_path: Path) -> None:
    file = tmp_path / "doc.pdf"
    file.write_bytes(pdf(*(f"text {n}" for n in range(1, 41))))
    text = text_of_read(file, limit=4)
    assert text.startswith("--- page 1 of 40 ---\ntext 1\n\n--- page 2 of 40 ---\n\n[The text of a PDF]")
    assert "Go on with offset=5" in text
    assert text_of_read(file, offset=5, limit=2).startswith("text 2\n\n\n[The")
    late = read(file, offset=1000)
    assert late.is_error
    assert "past its end" in said(late)


def test_a_scanned_pdf_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "doc.pdf").write_bytes(pdf("", ""))
    assert "2 pages without text, most likely scanned" in refusal(tmp_path / "doc.pdf")
    assert "pdftoppm" in refusal(tmp_path / "doc.pdf")


def test_encrypted_pdfs(tmp_path: Path) -> None:
    from pypdf import PdfReader, PdfWriter

    for name, password in (("open", ""), ("locked", "secret")):
        writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf("Hidden words"))))
        writer.encrypt(password, "owner", algorithm="RC4-128")
        writer.write(tmp_path / name)
    assert "Hidden words" in text_of_read(tmp_path / "open")
    assert "is an encrypted PDF" in refusal(tmp_path / "locked")


def test_damaged_pdfs_are_refused_with_a_word(tmp_path: Path) -> None:
    whole = pdf("Hello")
    for name, data in (("head", b"%PDF-1.7\n%text\n"), ("cut", whole[:300]), ("zeros", b"%PDF-1.4\n" + b"\0" * 5000)):
        (tmp_path / name).write_bytes(data)
        assert "PDF" in refusal(tmp_path / name), name


# --- notebooks ------------------------------------------------------------------------------------------------------


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def test_a_notebook_is_read_as_cells_with_outputs(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["10%\r20%\n", "done\n"]},
        {"output_type": "execute_result", "data": {"text/plain": "42", "text/html": "<b>42</b>"}, "execution_count": 7},
        {"output_type": "display_data", "data": {"image/png": "aGVsbG8=", "text/plain": ["<Figure>"]}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mE\x1b[0m: v", "  line 1"]},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": []},
    ]
    file.write_text(
        notebook(
            {"cell_type": "markdown", "source": ["# Title\n", "words"]},
            {"cell_type": "code", "source": "print(42)\n", "execution_count": 7, "outputs": outputs},
            {"cell_type": "code", "source": [], "execution_count": None, "outputs": []},
        )
    )
    assert text_of_read(file) == (
        "--- cell 1: markdown ---\n# Title\nwords\n\n"
        "--- cell 2: code [7] ---\nprint(42)\n--- output of cell 2 ---\n20%\ndone\n42\n"
        "<Figure>\n[image/png, 8 B, not shown]\nE: v\n  line 1\nE: v\n\n"
        "--- cell 3: code ---\n\n"
        "\n\n[A notebook's cells as text; edit changes the file's JSON]"
    )
    assert text_of_read(file, offset=2, limit=1).startswith("# Title\n\n[A notebook")


@pytest.mark.parametrize("content", ["{}", "[1]", '{"cells": 1}', "not json", '{"cells": [' + "[" * 5000])
def test_what_is_no_notebook_is_read_as_the_text_it_is(tmp_path: Path, content: str) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(content)
    assert text_of_read(file) == content


def test_odd_notebooks_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(
        json.dumps(
            {"cells": [1, {}, {"cell_type": "code", "source": 5, "outputs": [None, {}, {"data": 3}, {"text": 1}]}]}
        )
    )
    assert "--- cell 3: code ---\n5" in text_of_read(file)
    file.write_text(
        json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": "old", "prompt_number": 3}]}]})
    )
    assert "--- cell 1: code [3] ---\nold" in text_of_read(file)
    file.write_text(notebook())
    assert text_of_read(file).startswith("(a notebook without cells)")
