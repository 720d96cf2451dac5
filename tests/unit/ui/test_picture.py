"""The component of a picture: its facts everywhere, and what a screen needs to draw it."""

from __future__ import annotations

import base64
import io
from typing import Any

import pytest
from PIL import Image as Pillow

from zot_cli.repl.custom.lines import drawn
from zot_cli.repl.gallery import Gallery
from zot_cli.repl.inline import Art, Space
from zot_cli.repl.look import default_look
from zot_cli.repl.spans import plain as text_of
from zot_core.toolkit.sniff import image_size
from zot_core.types import content
from zot_core.ui import Box, Container, Image, Text, plain, width_of
from zot_core.ui.picture import MARK, facts, picture_in
from zot_core.ui.theme import built_in

THEME = built_in("dark")


def file(form: str, size: tuple[int, int] = (640, 480), **options: Any) -> bytes:
    out = io.BytesIO()
    Pillow.new("RGB", size).save(out, format=form, **options)
    return out.getvalue()


def look() -> Any:
    gallery = Gallery(lambda: "kitty", lambda: Space(columns=79, rows=20), lambda *_: None, lambda: None)
    return default_look("dark").with_(gallery=gallery)


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("PNG", {}),
        ("GIF", {}),
        ("JPEG", {}),
        ("JPEG", {"progressive": True, "icc_profile": b"x" * 150_000, "comment": b"said before"}),
        ("WEBP", {}),
        ("WEBP", {"lossless": True}),
        ("WEBP", {"exif": b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x00"}),
    ],
)
def test_headers_tell_the_size(form: str, options: dict[str, Any]) -> None:
    data = file(form, **options)
    assert image_size(data) == (640, 480)
    block = content.Image(f"image/{form.lower()}", base64.b64encode(data).decode())
    assert facts(block).startswith(f"[picture image/{form.lower()}, 640×480, ")
    for end in range(min(len(data), 300)):
        assert image_size(data[:end]) in (None, (640, 480))


@pytest.mark.parametrize(
    "data", [b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\x00\x00" * 9, b"GIF89a\x00\x00\x00\x00", b"RIFF1234WEBPVP8 "]
)
def test_broken_headers_tell_nothing(data: bytes) -> None:
    assert image_size(data) is None


def test_facts() -> None:
    assert facts(content.Image("image/png", "aGk=")) == "[picture image/png, 2 B: its header cannot be read]"
    assert facts(content.Image("image/tiff", "aGk=")) == "[picture image/tiff, 2 B]"
    assert facts(content.Image("", "aGk="), "why") == "[picture, 2 B: why]"
    assert facts(content.Image("a\x1b[2J\nb\x07" + "c" * 500, "a")) == f"[picture a b{'c' * 57}, 0 B]"


def test_without_a_screen_the_component_is_a_line_of_text() -> None:
    (line,) = Image(file("PNG"), 2).render(80)
    assert plain(line).startswith("  [picture image/png, 640×480, ")
    assert all(width_of(Image(file("PNG"), 2).render(width)[0]) <= width for width in range(3, 60))


def test_the_screen_finds_it_wherever_it_stands() -> None:
    picture = Image(file("PNG"), columns=30, rows=5)
    made = Box(3, 1, lambda line: THEME.bg("customMessageBg", line), [Container([Text("above"), picture])])
    lines = drawn(made, 60, look=look())
    (found,) = [line for line in lines if any(isinstance(style, Art) for style, _ in line)]
    assert text_of(found).startswith("   [picture image/png, 640×480, ") and lines.index(found) == 2
    (art,) = [style for style, _ in found if isinstance(style, Art)]
    assert art.image is picture.picture
    assert [text_of(line) for line in drawn(made, 60)][2].startswith("   [picture image/png")  # where none are drawn


def test_of_many_pictures_in_one_component_some_are_drawn() -> None:
    lines = drawn(Container([Image(file("PNG")) for _ in range(9)]), 60, look=look())
    assert [any(isinstance(style, Art) for style, _ in line) for line in lines] == [True] * 4 + [False] * 5
    assert all(text_of(line).startswith("[picture image/png") for line in lines)


def test_only_a_component_can_name_a_picture() -> None:
    assert picture_in(f"{MARK}{'0' * 32}\x07[picture image/png]") is None
    picture = Image(file("PNG"))
    (line,) = picture.render(80)
    assert picture_in("  " + line) == (2, picture)
    del picture
    assert picture_in(line) is None  # nothing keeps it
    assert text_of(drawn([line], 80, look=look())[0]).startswith("[picture image/png")
