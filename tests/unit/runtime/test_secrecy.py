"""Which variables count as secrets: what keys and headers name, and never what every program needs."""

from __future__ import annotations

import pytest

from zot_core.config.secrets import variables_in
from zot_core.runtime.secrecy import secrets_in, secrets_of
from zot_core.types.specs import ModelSpec, ProviderSpec


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$A", {"A"}),
        (" ${A_1} ", {"A_1"}),
        ("Bearer ${A}, $B.$C", {"A", "B", "C"}),
        ("$$A", set()),
        ("a $$A and $B", {"B"}),
        ("$!A$B", set()),
        ("!echo $A", set()),
        ("5 $ or ${", set()),
        ("plain", set()),
    ],
)
def test_the_variables_that_a_text_names(text: str, names: set[str]) -> None:
    assert variables_in(text) == names


def test_a_spec_names_its_secrets_and_nothing_imports_a_catalog() -> None:
    spec = ProviderSpec(
        id="a",
        env=("A_KEY",),
        secret_env=("A_SECRET",),
        api_key="${A_FILE_KEY}",
        headers={"x": "Bearer $A_TOKEN", "y": "$HOME/$PATH"},
        models=(ModelSpec(id="m", provider="a", headers={"z": "$A_MODEL"}),),
    )
    lazy = ProviderSpec(id="b", env=("B_KEY",), models="no.such.module:MODELS")
    always = {"A_KEY", "A_FILE_KEY", "A_TOKEN", "A_MODEL", "B_KEY"}
    assert secrets_of([spec, lazy], {"a"}) == always | {"A_SECRET"}
    assert secrets_of([spec, lazy], ()) == always, "what stands beside a key is the person's own while it is not used"


def test_odd_rows_of_a_models_json_are_passed_over() -> None:
    rows = {
        "a": {"api_key": "$A", "headers": {"x": 7, "y": "$B"}, "models": [{"headers": {"z": "$C"}}, {"headers": []}]},
        "b": {"apiKey": 7, "headers": "no", "models": {}, "modelOverrides": {"m": {"headers": {"x": "${D}"}}, "n": 7}},
    }
    assert secrets_in(rows) == {"A", "B", "C", "D"}
    assert secrets_in({}) == frozenset()
