"""BM25 over a few hundred short texts with fields of different weight. Pure; knows no tool.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the weights of fields
folded into the counts of words, as its BM25F has it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

K1 = 1.2
B = 0.75
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")
"""A word, or a part of `snake_case` and `camelCase`; runs of other scripts stay whole."""


def words(text: str) -> list[str]:
    """The words of a text, small and in the singular where English is plain about it."""
    return [_singular(word.lower()) for word in _WORD.findall(text)]


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


class Index:
    """Documents, each a list of (text, weight)."""

    def __init__(self, documents: Sequence[Sequence[tuple[str, int]]]) -> None:
        self._counts = [_counted(fields) for fields in documents]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0
        self._in: Counter[str] = Counter(word for counts in self._counts for word in counts)

    def search(self, query: str) -> list[tuple[float, int]]:
        """(score, number) of the documents that share a word with `query`, the best first, then in their order."""
        wanted = set(words(query))
        scored = [(self._score(number, wanted), number) for number in range(len(self._counts))]
        return sorted((row for row in scored if row[0] > 0), key=lambda row: (-row[0], row[1]))

    def _score(self, number: int, wanted: Iterable[str]) -> float:
        counts, score = self._counts[number], 0.0
        for word in wanted:
            if found := counts.get(word):
                among = self._in[word]
                rarity = math.log(1 + (len(self._counts) - among + 0.5) / (among + 0.5))
                length = 1 - B + B * self._lengths[number] / self._mean
                score += rarity * found * (K1 + 1) / (found + K1 * length)
        return score


def _counted(fields: Iterable[tuple[str, int]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text, weight in fields:
        for word in words(text):
            counts[word] += weight
    return counts
