"""What holds for any file, any edit and any limit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.tool_context import FakeToolContext, run, said

from zot_core.toolkit.encoding import decode
from zot_core.toolkit.spool import Spool
from zot_core.toolkit.text import as_seen
from zot_core.toolkit.truncation import lines_of

ENDS = st.sampled_from(["\n", "\r\n", "\r", ""])
WORDS = st.text(st.sampled_from("ab x\téß日😀\u2028\u00a0\u0301.*$\\1"), max_size=8)
TEXTS = st.lists(st.tuples(WORDS, ENDS), max_size=8).map(lambda parts: "".join(map("".join, parts)))
CODECS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "latin-1", "cp1252", "cp932", "gb18030"])
FILES = st.one_of(
    st.binary(max_size=120),
    st.builds(lambda text, codec: text.encode(codec, "ignore"), TEXTS, CODECS),
    st.builds(lambda text, stray: text.encode() + stray, TEXTS, st.binary(max_size=4)),
)
"""Bytes of all kinds: noise, text in many encodings, text with stray bytes."""


def printable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


@settings(max_examples=250, deadline=None)
@given(data=FILES, new=WORDS, draw=st.data())
def test_only_the_span_changes_in_any_file(data: bytes, new: str, draw: st.DataObject) -> None:
    try:
        decoded = decode(data)
    except UnicodeError:
        decoded = None
    text = decoded.text if decoded is not None else ""
    start = draw.draw(st.integers(0, len(text)))
    end = draw.draw(st.integers(start, min(len(text), start + 12)))
    old = text[start:end]
    assume(printable(old) and old != new)
    assume(not (old.startswith("\n") and text[:start].endswith("\r")))  # a CR LF is one line end and goes as one
    with TemporaryDirectory() as folder:
        file = Path(folder, "a")
        file.write_bytes(data)
        result = run("edit", FakeToolContext(file.parent), path="a", edits=[{"old_text": old, "new_text": new}])
        after = file.read_bytes()
    if result.is_error:
        assert after == data
        assert "Nothing was changed" in said(result), said(result)
        if decoded is not None and old and "takes text only" not in said(result) and "cannot write" not in said(result):
            assert "occurs" in said(result), said(result)
        return
    assert decoded is not None
    before = decoded.encode(text[:start])
    behind = decoded.encode(text[end:])[len(decoded.encoding.mark) :]
    assert after == before + new.encode(decoded.encoding.name) + behind


@settings(max_examples=150, deadline=None)
@given(data=FILES, old=WORDS, new=TEXTS)
def test_replacing_all_changes_nothing_else_in_any_file(data: bytes, old: str, new: str) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder, "a")
        file.write_bytes(data)
        edits = [{"old_text": old, "new_text": new, "replace_all": True}]
        result = run("edit", FakeToolContext(file.parent), path="a", edits=edits)
        after = file.read_bytes()
    if result.is_error:
        assert after == data
        return
    decoded = decode(data)
    kept = [decoded.encode(part)[len(decoded.encoding.mark) :] for part in decoded.text.split(old)]
    assert len(kept) > 1
    at = len(decoded.encoding.mark)
    assert after.startswith(decoded.encoding.mark)
    for part in kept:
        at = after.find(part, at)
        assert at >= 0
        at += len(part)
    assert after.endswith(kept[-1])


@settings(max_examples=150, deadline=None)
@given(lines=st.lists(WORDS, min_size=1, max_size=12), end=st.sampled_from(["\n", "\r\n"]), new=WORDS, draw=st.data())
def test_what_was_read_can_be_edited_and_read_again(lines: list[str], end: str, new: str, draw: st.DataObject) -> None:
    number = draw.draw(st.integers(0, len(lines) - 1))
    old = lines[number]
    assume(old and old != new and "".join(lines).count(old[0]) and not new.startswith(old))
    with TemporaryDirectory() as folder:
        file = Path(folder, "a")
        file.write_bytes("".join(line + end for line in lines).encode())
        ctx = FakeToolContext(file.parent)
        shown = said(run("read", ctx, path="a", offset=number + 1, limit=1)).partition("\n\n[")[0]
        assert shown == old
        whole = said(run("read", ctx, path="a"))
        result = run("edit", ctx, path="a", edits=[{"old_text": shown, "new_text": new}])
        again = said(run("read", ctx, path="a"))
        raw = file.read_bytes()
    if result.is_error:
        assert "occurs" in said(result)
        assert again == whole
        return
    lines[number] = lines[number].replace(old, new)
    assert raw == "".join(line + end for line in lines).encode()
    if any(lines):
        assert again.partition("\n\n[")[0].rstrip("\n") == "\n".join(lines).rstrip("\n")


@settings(max_examples=300, deadline=None)
@given(
    data=st.one_of(st.binary(max_size=200), TEXTS.map(lambda text: (text * 3).encode())),
    cuts=st.lists(st.integers(0, 200), max_size=4),
    max_lines=st.integers(1, 6),
    max_bytes=st.integers(8, 60),
)
def test_the_end_of_any_output_is_whole_lines_and_whole_characters(
    data: bytes, cuts: list[int], max_lines: int, max_bytes: int
) -> None:
    spool = Spool("test")
    at = 0
    for cut in [*sorted(cuts), len(data)]:
        spool.feed(data[at:cut])
        at = max(at, cut)
    cut_text = spool.shown(max_lines=max_lines, max_bytes=max_bytes)
    spool.discard()
    lines = lines_of(as_seen(data.decode("utf-8", "replace")))
    shown = cut_text.text.split("\n") if cut_text.truncated else lines_of(cut_text.text)
    shown = shown if cut_text.lines else []
    assert len(cut_text.text.encode()) <= max_bytes or not cut_text.truncated
    assert len(shown) <= max_lines
    if cut_text.partial:
        assert cut_text.text and lines[-1].endswith(cut_text.text)
    elif shown:
        assert lines[-len(shown) :] == shown
