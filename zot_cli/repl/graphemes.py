"""What people take for one character: grapheme clusters in a text, and words made of them. Pure; knows no editor."""

from __future__ import annotations

from collections.abc import Iterator

from wcwidth import grapheme_boundary_before, iter_graphemes

_FAR = 1000
"""Code points that are looked back at: no cluster is longer."""


def clusters(text: str) -> Iterator[str]:
    """The grapheme clusters of a text, in order."""
    return iter(text) if text.isascii() else iter_graphemes(text)


def end_of(text: str, at: int) -> int:
    """Where the cluster that begins at `at` ends; the text's end at its end."""
    if at >= len(text):
        return len(text)
    if text[at : at + 2].isascii():
        return at + 1
    return at + len(next(iter_graphemes(text, at, min(len(text), at + _FAR))))


def start_before(text: str, at: int) -> int:
    """Where the cluster begins that stands before `at`; 0 at the text's beginning."""
    if at <= 0:
        return 0
    first = max(text.rfind("\n", 0, at - 1) + 1, at - _FAR)
    return first + grapheme_boundary_before(text[first:at], at - first)


def boundary(text: str, at: int) -> int:
    """`at`, or the beginning of the cluster that it would cut."""
    if at <= 0 or at >= len(text) or text[at].isascii():
        return max(0, min(at, len(text)))
    first = max(text.rfind("\n", 0, at) + 1, at - _FAR)
    place = first
    for cluster in iter_graphemes(text, first, min(len(text), at + _FAR)):
        if place + len(cluster) > at:
            return place
        place += len(cluster)
    return at


def is_word(text: str, at: int) -> bool:
    """Whether the cluster at `at` belongs to a word: letters, digits and underlines do, with all their marks."""
    return at < len(text) and (text[at].isalnum() or text[at] == "_")
