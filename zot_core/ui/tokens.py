"""The colour tokens of themes: what may be coloured, what stands in for one that a theme leaves out, other names."""

from __future__ import annotations

TOKENS = tuple(
    """
    accent border borderAccent borderMuted success error warning muted dim text thinkingText
    selectedBg userMessageBg userMessageText customMessageBg customMessageText customMessageLabel
    toolPendingBg toolSuccessBg toolErrorBg toolTitle toolOutput
    mdHeading mdLink mdLinkUrl mdCode mdCodeBlock mdCodeBlockBorder mdQuote mdQuoteBorder mdHr mdListBullet
    toolDiffAdded toolDiffRemoved toolDiffContext
    syntaxComment syntaxKeyword syntaxFunction syntaxVariable syntaxString syntaxNumber syntaxType syntaxOperator
    syntaxPunctuation
    thinkingOff thinkingMinimal thinkingLow thinkingMedium thinkingHigh thinkingXhigh
    bashMode
    """.split()  # noqa: SIM905 - a list of one name a line would be three screens long
)
"""What a whole theme has a colour for."""

INSTEAD = {
    "thinkingMax": "thinkingXhigh",
    "scrollToEndIndicatorBg": "selectedBg",
    "scrollToEndIndicatorText": "text",
    "scrollbarThumb": "selectedBg",
    "searchMatchBg": "selectedBg",
    "searchMatchText": "text",
    "selectedText": "text",
    "spinner": "accent",
    "userLabel": "accent",
    "assistantLabel": "accent",
}
"""Tokens that a theme need not have, and the one whose colour they take then."""

OTHER_NAMES = {
    "fg": "text",
    "user": "userLabel",
    "assistant": "assistantLabel",
    "tool": "toolTitle",
    "tool_out": "toolOutput",
    "selection_bg": "selectedBg",
    "selection_fg": "selectedText",
}
"""What the Go zot's themes call tokens, where that is not only another spelling."""

KNOWN = frozenset(TOKENS) | INSTEAD.keys()
"""Every token there is."""
_SPELLINGS = {name.lower(): name for name in KNOWN}


def token_of(name: str) -> str | None:
    """The token that `name` means: itself, in snake_case or kebab-case, or by another name; None for none."""
    if name in KNOWN:
        return name
    return OTHER_NAMES.get(name) or _SPELLINGS.get(name.replace("_", "").replace("-", "").lower())


def nearest_token(name: str) -> str:
    """The token whose name is nearest to `name`, "" if none is near."""
    from difflib import get_close_matches  # only for a misspelt token

    near = get_close_matches(name.replace("_", "").replace("-", "").lower(), list(_SPELLINGS), n=1, cutoff=0.6)
    return _SPELLINGS[near[0]] if near else ""


def is_background(token: str) -> bool:
    """Whether the token colours what is behind text."""
    return token.endswith("Bg") or token == "scrollbarThumb"
