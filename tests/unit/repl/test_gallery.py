"""Pictures made ready beside the screen: once, bounded, in order, and with a reason where there is nothing to draw."""

from __future__ import annotations

import asyncio
import base64
import io
import re
import struct
import zlib
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from PIL import Image as Pillow

from zot_cli.repl import gallery as room
from zot_cli.repl.blocks import render
from zot_cli.repl.gallery import Gallery
from zot_cli.repl.inline import Protocol, Space
from zot_cli.repl.look import default_look
from zot_cli.repl.pixels import MOST_BYTES, made
from zot_cli.repl.spans import Line, plain, rows_of, to_ansi
from zot_cli.repl.state import Said, ToolRow
from zot_core.types.content import Image, Text

LOOK = default_look("dark")


def picture(form: str = "PNG", size: tuple[int, int] = (40, 20), mode: str = "RGB", **options: Any) -> Image:
    out = io.BytesIO()
    Pillow.new(mode, size, 77 if mode in "LP" else None).save(out, format=form, **options)
    return Image(f"image/{form.lower()}", base64.b64encode(out.getvalue()).decode())


def noise(side: int, seed: int = 0) -> Image:
    out = io.BytesIO()
    data = bytes(seed) + Pillow.effect_noise((side, side * 3), 90).tobytes()
    Pillow.frombytes("RGB", (side, side), data[: side * side * 3]).save(out, format="PNG")
    return Image("image/png", base64.b64encode(out.getvalue()).decode())


def opened(data: str) -> Any:
    return Pillow.open(io.BytesIO(base64.b64decode(data)))


class Desk:
    """A gallery, and what it called."""

    def __init__(self, protocol: Protocol | None = "kitty") -> None:
        self.protocol = protocol
        self.calls: list[str] = []
        self._tasks: list[asyncio.Task[None]] = []
        space = Space(columns=79, rows=20)
        self.gallery = Gallery(lambda: self.protocol, lambda: space, self._begin, lambda: self.calls.append("changed"))
        self.look = LOOK.with_(gallery=self.gallery)

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(work))

    def lines(self, *images: Image) -> list[Line]:
        return render(Said(text="see", pictures=images), 79, self.look)

    async def make(self, *images: Image, then: Callable[[], None] | None = None) -> list[Line]:
        """The lines once the pictures are ready."""
        assert not self.gallery.ready(self.lines(*images), then)
        assert self.gallery.busy
        await asyncio.gather(*self._tasks)
        assert not self.gallery.busy
        return self.lines(*images)


def sent(lines: list[Line]) -> list[str]:
    """The files that reach a terminal by Kitty's protocol."""
    whole = re.sub(r"\x1b_Gq=2,m=.;([^\x1b]*)\x1b\\", r"\1", to_ansi(lines, "16").replace("\x1b\\\x1b_Gq", "\x1b_Gq"))
    return re.findall(r"\x1b_Ga=T[^;]*;([^\x1b]*)", whole)


@pytest.mark.parametrize(
    ("form", "mode", "options"),
    [
        ("PNG", "RGB", {}),
        ("PNG", "RGBA", {}),
        ("PNG", "I;16", {}),
        ("PNG", "1", {}),
        ("PNG", "LA", {}),
        ("JPEG", "RGB", {}),
        ("JPEG", "CMYK", {}),
        ("GIF", "P", {"save_all": True, "append_images": [Pillow.new("P", (40, 20))]}),
        ("WEBP", "RGB", {"lossless": True}),
    ],
)
def test_kitty_gets_png_of_whatever_it_was(form: str, mode: str, options: dict[str, Any]) -> None:
    found = made(picture(form, mode=mode, **options), "kitty", (400, 400))
    with opened(found.data) as drawn:
        assert drawn.format == "PNG" and drawn.size == (40, 20)
    assert found.size == len(base64.b64decode(found.data)) and found.natural == (40, 20)


def test_iterm2_gets_jpeg_as_jpeg_and_all_is_scaled_into_the_box() -> None:
    found = made(picture("JPEG", (3000, 1000)), "iterm2", (300, 300))
    with opened(found.data) as drawn:
        assert drawn.format == "JPEG" and drawn.size == (300, 100)
    assert found.natural == (3000, 1000)


def test_a_photograph_that_lies_on_its_side_is_turned() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6
    found = made(picture("JPEG", (2000, 1000), exif=exif), "kitty", (400, 400))
    with opened(found.data) as drawn:
        assert drawn.size == (200, 400)
    assert found.natural == (1000, 2000)


def test_what_goes_to_the_terminal_is_bounded() -> None:
    found = made(noise(1000), "kitty", (1000, 1000))
    assert found.size <= MOST_BYTES and found.natural == (1000, 1000)


# --- made ready -------------------------------------------------------------------------------------------------------


def test_a_picture_is_a_line_until_it_is_ready_and_made_once() -> None:
    async def work() -> None:
        desk, image = Desk(), picture(size=(100, 100))
        before = desk.lines(image)
        assert [plain(line) for line in before] == ["› see", f"  [picture image/png, 100×100, {image.size} B]"]
        assert rows_of(before) == 2 and sent(before) == []
        lines = await desk.make(image, then=lambda: desk.calls.append("then"))
        assert desk.calls == ["then", "changed"]
        assert rows_of(lines) == 7
        (data,) = sent(lines)
        with opened(data) as drawn:
            assert drawn.size == (100, 100)
        assert desk.gallery.ready(desk.lines(image)) and desk.calls == ["then", "changed"]

    asyncio.run(work())


def test_where_pictures_are_not_drawn_nothing_is_made() -> None:
    async def work() -> None:
        desk = Desk(None)
        assert not desk.gallery.on
        assert desk.gallery.ready(desk.lines(picture()))
        assert rows_of(desk.lines(picture())) == 2

    asyncio.run(work())


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, body: bytes = b"") -> Image:
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    return Image("image/png", base64.b64encode(data).decode())


@pytest.mark.parametrize(
    ("image", "said"),
    [
        (png(30_000, 30_000), "30000×30000, 57 B: too many pixels to draw]"),
        (png(9_000, 9_000), "9000×9000, 57 B: too many pixels to draw]"),
        (png(8, 8, b"no deflate"), "8×8, 67 B: damaged: "),
        (Image("image/png", "aGk="), "2 B: damaged, or not PNG, JPEG, GIF or WebP]"),
        (Image("image/png", "a"), "its data is no base64]"),
        (Image("image/png", "\u2603" * 8), "its data is no base64]"),
        (Image("image/svg+xml", base64.b64encode(b"<svg/>").decode()), "[picture image/svg+xml, 6 B: damaged, or not"),
        (Image("image/png", ""), "0 B: damaged, or not"),
    ],
)
def test_what_cannot_be_drawn_says_why(image: Image, said: str) -> None:
    async def work() -> None:
        desk = Desk()
        lines = await desk.make(image)
        assert said in plain(lines[-1]) and rows_of(lines) == 2
        assert desk.gallery.ready(lines)  # and is not tried again

    asyncio.run(work())


def test_names_of_types_and_reasons_bring_no_control_sequences() -> None:
    async def work() -> None:
        hostile = Image("image/png\x1b]0;owned\x07\x1b[2J\r\n\x9b1A\u202e" + "x" * 500, "aGk=")
        for lines in (Desk(None).lines(hostile), await Desk().make(hostile)):
            said = to_ansi(lines, "none")
            assert not set("\x07\x9b\u202e") & set(said) and said.count("\x1b") == 2 and said.count("\n") == 2
            assert all(len(plain(line)) <= 79 for line in lines)

    asyncio.run(work())


def test_what_takes_too_long_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    go_on = threading.Event()

    def slow(*_: Any) -> Any:
        go_on.wait(10)

    async def work() -> None:
        desk = Desk()
        lines = await desk.make(picture(), picture(size=(50, 50)))
        assert all(plain(line).endswith("took too long to draw]") for line in lines[1:]) and rows_of(lines) == 3
        assert desk.calls == ["changed"]
        go_on.set()

    monkeypatch.setattr(room, "PATIENCE", 0.05)
    monkeypatch.setattr(room, "_pixels", slow)
    asyncio.run(work())


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        desk = Desk()
        images = [noise(60, seed) for seed in range(4)]
        lines = await desk.make(*images)
        assert len(sent(lines)) == 2  # the latest
        assert all("[picture image/png, 60×60" in plain(line) for line in lines[1:])
        assert desk.gallery.ready(lines)  # what is gone is not made again and again

    monkeypatch.setattr(room, "KEPT_CHARACTERS", 2 * len(made(noise(60), "kitty", (79, 79)).data) + 2000)
    asyncio.run(work())


def test_of_many_pictures_in_one_result_some_are_drawn() -> None:
    async def work() -> None:
        desk = Desk()
        images = tuple(picture(size=(20 + n, 20)) for n in range(20))
        row = ToolRow(call_id="1", name="shots", status="done", result=(Text("twenty"), *images))
        assert not desk.gallery.ready(render(row, 79, desk.look))
        while desk.gallery.busy:
            await asyncio.sleep(0.005)
        lines = render(row, 79, desk.look)
        assert len(sent(lines)) == 4
        assert plain(lines[1]) == "  twenty" and plain(lines[-1]) == "  … 8 more pictures (ctrl+o)"
        assert len(render(row, 79, desk.look.with_(expanded=True))) == 22

    asyncio.run(work())
