"""A model file for llama.cpp that a test makes: a few hundred tokens, and weights that say what comes after which.

One layer whose attention and feed-forward are zero, embeddings that are unit vectors, and an output matrix with one
weight a row: the next token depends on the last one alone, at any temperature. The chat template chooses where an
answer begins, by the token that it ends the prompt with; so the file is the script of a server that is a real one.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WIDTH = 384
"""Numbers of an embedding: at least one for each token of the vocabulary."""
_HEADS, _HEAD, _FEED = 12, 32, 32
_NORMAL, _UNKNOWN, _CONTROL, _USER, _BYTE = 1, 2, 3, 4, 6
_U32, _I32, _F32, _BOOL, _STRING, _ARRAY = 4, 5, 6, 7, 8, 9
_ALIGNMENT = 32


def write(path: Path, template: str, answers: Mapping[str, Sequence[str]], context: int = 32_768) -> None:
    """Writes a model to `path`. `template` is Jinja, ending in a key of `answers`; after that token come its pieces.

    A piece may stand in one answer only, and nowhere else. An answer whose last piece is "…" begins again from its
    first and never ends. Raises ValueError for a vocabulary that is too large.
    """
    tokens: list[tuple[str, int]] = [("<unk>", _UNKNOWN), ("<s>", _CONTROL), ("</s>", _CONTROL)]
    tokens.extend((f"<0x{byte:02X}>", _BYTE) for byte in range(256))
    after: dict[int, int] = {}
    for start, pieces in answers.items():
        at = len(tokens)
        tokens.append((start, _CONTROL))
        for piece in pieces:
            if piece == "…":
                break
            after[at] = at = len(tokens)
            tokens.append((piece.replace(" ", "▁"), _USER if piece.startswith("<") else _NORMAL))
        after[at] = after[tokens.index((start, _CONTROL))] if pieces and pieces[-1] == "…" else 2
    if len(tokens) > WIDTH:
        raise ValueError(f"{len(tokens)} tokens; {WIDTH} have room")
    facts: dict[str, tuple[int, Any]] = {
        "general.architecture": (_STRING, "llama"),
        "general.name": (_STRING, "tiny"),
        "llama.context_length": (_U32, context),
        "llama.embedding_length": (_U32, WIDTH),
        "llama.block_count": (_U32, 1),
        "llama.feed_forward_length": (_U32, _FEED),
        "llama.attention.head_count": (_U32, _HEADS),
        "llama.attention.head_count_kv": (_U32, 1),
        "llama.attention.layer_norm_rms_epsilon": (_F32, 1e-5),
        "llama.rope.dimension_count": (_U32, _HEAD),
        "tokenizer.ggml.model": (_STRING, "llama"),
        "tokenizer.ggml.tokens": (_ARRAY, (_STRING, [text for text, _ in tokens])),
        "tokenizer.ggml.scores": (_ARRAY, (_F32, [-float(n) for n in range(len(tokens))])),
        "tokenizer.ggml.token_type": (_ARRAY, (_I32, [kind for _, kind in tokens])),
        "tokenizer.ggml.unknown_token_id": (_U32, 0),
        "tokenizer.ggml.bos_token_id": (_U32, 1),
        "tokenizer.ggml.eos_token_id": (_U32, 2),
        "tokenizer.ggml.add_bos_token": (_BOOL, False),
        "tokenizer.ggml.add_space_prefix": (_BOOL, False),
        "tokenizer.chat_template": (_STRING, template),
    }
    count = len(tokens)
    tensors = {
        "token_embd.weight": ((WIDTH, count), _ones((row, row) for row in range(count))),
        "output.weight": ((WIDTH, count), _ones(((after.get(n, 2), n) for n in range(count)), 10.0)),
        "output_norm.weight": ((WIDTH,), None),
        "blk.0.attn_norm.weight": ((WIDTH,), None),
        "blk.0.ffn_norm.weight": ((WIDTH,), None),
        "blk.0.attn_q.weight": ((WIDTH, _HEADS * _HEAD), {}),
        "blk.0.attn_k.weight": ((WIDTH, _HEAD), {}),
        "blk.0.attn_v.weight": ((WIDTH, _HEAD), {}),
        "blk.0.attn_output.weight": ((_HEADS * _HEAD, WIDTH), {}),
        "blk.0.ffn_gate.weight": ((WIDTH, _FEED), {}),
        "blk.0.ffn_up.weight": ((WIDTH, _FEED), {}),
        "blk.0.ffn_down.weight": ((_FEED, WIDTH), {}),
    }
    head = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(facts)))
    for key, (kind, value) in facts.items():
        head += _string(key) + struct.pack("<I", kind) + _value(kind, value)
    body = bytearray()
    for name, (shape, weights) in tensors.items():
        sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
        head += _string(name) + sizes + struct.pack("<IQ", 0, len(body))
        body += _tensor(shape, weights)
        body += bytes(-len(body) % _ALIGNMENT)
    path.write_bytes(head + bytes(-len(head) % _ALIGNMENT) + body)


def _ones(cells: Any, weight: float = 1.0) -> dict[tuple[int, int], float]:
    return dict.fromkeys(cells, weight)


def _tensor(shape: Sequence[int], weights: Mapping[tuple[int, int], float] | None) -> bytes:
    """A matrix of zeros but for some (row, column), or a vector of ones."""
    size = 1
    for number in shape:
        size *= number
    numbers = array("f", bytes(4 * size))
    for (row, column), weight in (weights or {}).items():
        numbers[row * shape[0] + column] = weight
    return (array("f", [1.0]) * size if weights is None else numbers).tobytes()


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _string(value)
    if kind == _ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(_value(inner, item) for item in items)
    return struct.pack({_U32: "<I", _I32: "<i", _F32: "<f", _BOOL: "<?"}[kind], value)
