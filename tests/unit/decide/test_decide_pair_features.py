"""What is looked at in two memories."""

from __future__ import annotations

import numpy as np
import pytest

from clew.core.records import EntryPair
from clew.decide.lexical.pairs import PAIR_FEATURES, extract_pair_features


def features(a: str, b: str) -> dict[str, float]:
    return dict(zip(PAIR_FEATURES, extract_pair_features(EntryPair(a=a, b=b)).tolist(), strict=True))


def test_a_clash_of_numbers_is_seen() -> None:
    assert features("Port is 5432", "Port is 5433")["number clash"] == 1
    assert features("Port is 5432", "The port: 5432")["number clash"] == 0


def test_a_clash_of_names_is_seen() -> None:
    found = features("Config lives in `app/settings.py`", "Config lives in `app/conf.py`")
    assert (found["names shared"], found["name clash"]) == (0, 1)


def test_a_denial_on_one_side_is_seen() -> None:
    found = features("Force pushes are allowed", "Force pushes are not allowed")
    assert (found["negation only a"], found["negation only b"]) == (0, 1)


@pytest.mark.parametrize(
    "text", ["We now deploy with Flux", "Ora usiamo Flux", "现在改用 Flux", "Fluxに移行", "Jetzt nutzen wir Flux"]
)
def test_a_told_change_is_seen_in_other_languages_too(text) -> None:
    assert features("Deploys go through Argo", text)["change in b"] == 1


def test_what_one_side_holds_entirely_is_contained_in_the_other() -> None:
    found = features("uses tabs", "the team uses tabs in every file")
    assert found["a in b"] == 1
    assert found["b in a"] < 1


@pytest.mark.parametrize(("a", "b"), [("", ""), ("", "text"), ("\x00", "\ud800"), ("a" * 100_000, "b c " * 50_000)])
def test_empty_and_hostile_texts_give_finite_features(a, b) -> None:
    found = extract_pair_features(EntryPair(a=a, b=b))
    assert found.shape == (len(PAIR_FEATURES),)
    assert np.isfinite(found).all()
