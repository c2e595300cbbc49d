"""The two tiers of the built-in judge, and what happens when the encoder's files are not as they should be."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from clew.core.errors import DecisionModelError
from clew.core.records import DatedEntry, EntryPair, State
from clew.decide.builtin import BuiltinJudge
from clew.decide.questionnaire import CONSOLIDATION, PAIRS, find_in_force, load_questionnaire
from clew.models.manifest import FOLDER, MANIFEST_NAME

GATE = load_questionnaire(None)
RULE = State(user="From now on use pnpm in this repository, never npm.", assistant="Noted.")


def link_models(folder: Path) -> Path:
    for path in FOLDER.iterdir():
        if path.is_file():
            os.link(path, folder / path.name)
    return folder


def probability(judge: BuiltinJudge, state, questions, id_: str) -> float:
    return judge.decide(state, questions).answers[id_].probability


def test_the_encoder_answers_where_its_files_are() -> None:
    judge = BuiltinJudge()
    assert (judge.name, judge.warning) == ("clew-judge-encoder", None)


@pytest.mark.parametrize("tier", ["lexical", "encoder"])
def test_each_tier_answers_every_kind_of_question(tier) -> None:
    judge = BuiltinJudge(tier=tier)
    assert judge.decide(RULE, GATE).abstained == ()
    assert judge.decide(EntryPair(a="tabs", b="spaces"), find_in_force(PAIRS, None).questions).abstained == ()
    assert judge.decide(DatedEntry(entry="tabs"), find_in_force(CONSOLIDATION, None).questions).abstained == ()


def test_the_tiers_have_names_and_fingerprints_of_their_own() -> None:
    lexical, encoder = BuiltinJudge(tier="lexical"), BuiltinJudge(tier="encoder")
    assert lexical.name != encoder.name
    assert lexical.fingerprint != encoder.fingerprint
    assert encoder.decide(RULE, GATE).fingerprint == encoder.fingerprint


def test_questions_of_another_kind_of_state_are_abstained_from() -> None:
    judge = BuiltinJudge()
    assert set(judge.decide(EntryPair(a="a", b="b"), GATE).abstained) == set(GATE)
    assert judge.decide(RULE, find_in_force(PAIRS, None).questions).abstained == (
        "same_fact",
        "replaces",
        "adds_detail",
    )


def test_a_missing_network_leaves_the_lexical_tier_with_a_warning(tmp_path) -> None:
    (link_models(tmp_path) / "judge.onnx").unlink()
    judge = BuiltinJudge(models=tmp_path)
    assert judge.name == "clew-judge-lexical"
    assert judge.warning is not None
    assert "judge.onnx" in judge.warning
    assert judge.decide(RULE, GATE).abstained == ()


def test_a_damaged_network_is_not_run(tmp_path) -> None:
    network = link_models(tmp_path) / "judge.onnx"
    content = bytearray(network.read_bytes())
    content[len(content) // 2] ^= 1
    network.unlink()
    network.write_bytes(content)
    judge = BuiltinJudge(models=tmp_path)
    assert judge.name == "clew-judge-lexical"
    assert "damaged" in (judge.warning or "")


def test_an_encoder_that_was_demanded_and_cannot_run_is_an_error(tmp_path) -> None:
    (link_models(tmp_path) / MANIFEST_NAME).unlink()
    (tmp_path / MANIFEST_NAME).write_text(json.dumps({"models": {}, "files": {}}))
    with pytest.raises(DecisionModelError, match="encoder cannot be used"):
        BuiltinJudge(tier="encoder", models=tmp_path).decide(RULE, GATE)


def test_what_was_learnt_shifts_the_logits_and_the_fingerprint() -> None:
    class More:
        fingerprint = "mine"

        def apply(self, logits, features):
            return logits + np.float32(1)

    shipped, personal = BuiltinJudge(), BuiltinJudge(adjustment=More())
    assert personal.score(RULE).logits == pytest.approx(shipped.score(RULE).logits + 1)
    assert personal.fingerprint != shipped.fingerprint
    assert personal.base_fingerprint == shipped.base_fingerprint


def test_a_file_of_another_judge_is_ignored_with_a_warning(tmp_path) -> None:
    path = tmp_path / "judge-personal.json"
    path.write_text("{}")
    judge = BuiltinJudge(personal_path=path)
    assert judge.fingerprint == judge.base_fingerprint
    assert judge.warning


@pytest.mark.parametrize("tier", ["lexical", "encoder"])
def test_a_paraphrase_is_one_fact_and_another_number_is_not(tier) -> None:
    judge, questions = BuiltinJudge(tier=tier), find_in_force(PAIRS, None).questions
    same = EntryPair(
        a="The user prefers pnpm to npm in every repository.", b="In all repositories the user wants pnpm, not npm."
    )
    other = EntryPair(a="The dev database listens on port 5432.", b="The dev database listens on port 5433.")
    assert probability(judge, same, questions, "same_fact") > probability(judge, other, questions, "same_fact")
    assert probability(judge, other, questions, "replaces") > 0.5


def test_a_standing_rule_still_holds_and_a_passing_state_does_not() -> None:
    judge, questions = BuiltinJudge(), find_in_force(CONSOLIDATION, None).questions
    rule = DatedEntry(entry="The user wants commit messages in English.", written="2026-03-01")
    state = DatedEntry(entry="CI is red today because the runner is out of disk space.", written="2026-03-01")
    assert probability(judge, rule, questions, "still_relevant") > 0.5
    assert probability(judge, state, questions, "still_relevant") < 0.5
