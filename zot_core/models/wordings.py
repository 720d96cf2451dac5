"""The words in which servers in the wild say what went wrong: data for failures.py, which knows what they mean.

A module of its own because compiling it takes 5 ms, and most runs never see a failure.
"""

from __future__ import annotations

import re

OVERFLOW_CODES = frozenset(
    {
        "context_length_exceeded",
        "context_window_exceeded",
        "exceed_context_size_error",
        "model_context_window_exceeded",
        "request_too_large",
        "string_above_max_length",
    }
)
OVERFLOW_WORDS = re.compile(
    r"""
    prompt\ is\ too\ long                                   # Anthropic, Bedrock, Ollama
    | input\ is\ too\ long | input\ prompt\ .{0,30}is\ too\ long   # Bedrock, older vLLM
    | maximum\ context\ length | maximum\ prompt\ length | max(imum)?\ model\ len  # OpenAI, vLLM, xAI
    | exceeds?\ the\ (available\ |model's\ |maximum\ )?context  # llama-server, OpenAI
    | context\ (size|window|length)\ (has\ been\ |was\ |is\ |limit\ )?(exceeded|exceeds)
    | context\ window\ exceeds\ limit                       # MiniMax
    | exceed(s|ed)?\ (the\ )?context\ (limit|window|length|size)
    | (greater|longer)\ than\ the\ (model's\ )?context      # LM Studio
    | exceeded\ model\ token\ limit                         # Kimi
    | input\ token\ count.{0,40}exceeds                     # Gemini
    | prompt\ token\ count.{0,40}exceeds                    # Copilot
    | (please\ )?reduce\ the\ length\ of\ the\ (messages|prompt|input)  # OpenAI, Groq, vLLM
    | too\ many\ tokens\ in\ the\ (prompt|request|input)
    | range\ of\ input\ length\ should\ be                  # Qwen
    | input\ length\ and\ `?max_tokens`?\ exceed            # Anthropic
    """,
    re.IGNORECASE | re.VERBOSE,
)
RATE_WORDS = re.compile(
    r"rate.?limit|too many requests|(tokens|requests) per (min|day|hour)|\b[TR]P[MD]\b|throttl", re.IGNORECASE
)
QUOTA_WORDS = re.compile(
    r"insufficient.?(quota|balance|funds|credit)|exceeded your current quota|quota.?exhausted|billing|credit balance"
    r"|usage.?limit.?reached|out of credits|payment required",
    re.IGNORECASE,
)
OVERLOADED_WORDS = re.compile(
    r"overloaded|over capacity|at capacity|engine.?is.?busy|service.?unavailable", re.IGNORECASE
)
AUTH_WORDS = re.compile(
    r"invalid.?api.?key|incorrect api key|authentication|unauthori[sz]ed|permission.?(denied|error)", re.IGNORECASE
)
KEY_WORDS = re.compile(r"api.?key (not valid|expired|not found)|API_KEY_INVALID", re.IGNORECASE)
"""Google's words for a wrong key, with status 400."""
REFUSED_WORDS = re.compile(r"content.?(filter|policy|management)|safety|moderation|flagged", re.IGNORECASE)
PASSING_WORDS = re.compile(
    r"server.?error|internal.?error|stream.?error|api.?error|try again|temporar|time.?out|timed out|unavailable"
    r"|upstream|connection|network",
    re.IGNORECASE,
)
INVALID_WORDS = re.compile(r"invalid.?(request|argument|prompt)|unsupported|not.?found|bad.?request", re.IGNORECASE)
