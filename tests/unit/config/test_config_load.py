"""Settings: defaults < file < environment, every bad value reported once, nothing ever raised."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.config.declared import SETTINGS
from clew.config.jsonc import parse_jsonc
from clew.config.load import Config, agent_folder, load_config, mask

SEED_KEYS = {
    "decisionModelUrl": "DECISION_MODEL_URL", "decisionModelId": "DECISION_MODEL_ID", "memoryDir": "GATE_MEMORY_DIR",
    "debug": "GATE_DEBUG", "trigger": "GATE_TRIGGER", "interval": "GATE_INTERVAL", "window": "GATE_WINDOW",
    "patternsPath": "GATE_PATTERNS_PATH", "questionsPath": "GATE_QUESTIONS_PATH", "secretThreshold": "GATE_SECRET_THRESHOLD",
    "sessionThreshold": "GATE_SESSION_THRESHOLD", "durableThreshold": "GATE_DURABLE_THRESHOLD",
    "failureThreshold": "GATE_FAILURE_THRESHOLD", "importanceThreshold": "GATE_IMPORTANCE_THRESHOLD",
    "importanceMin": "GATE_IMPORTANCE_MIN", "maxQueue": "GATE_MAX_QUEUE", "reviewMode": "GATE_REVIEW_MODE",
    "synthesize": "GATE_SYNTHESIZE", "synthPromptPath": "GATE_SYNTH_PROMPT_PATH", "relevantThreshold": "GATE_RELEVANT_THRESHOLD",
    "sameFactThreshold": "GATE_SAME_FACT_THRESHOLD", "hardDropThreshold": "GATE_HARD_DROP_THRESHOLD",
    "pairJaccardMin": "GATE_PAIR_JACCARD_MIN", "consolidateQuestionsPath": "GATE_CONSOLIDATE_QUESTIONS_PATH",
    "pairQuestionsPath": "GATE_PAIR_QUESTIONS_PATH", "calibThreshold": "GATE_CALIB_THRESHOLD", "tuiLog": "GATE_TUI_LOG",
}  # fmt: skip


def load(tmp_path: Path, gate: str | dict | None = None, noodle: str | dict | None = None, **env: str) -> Config:
    for place, content in ((".pi/agent/memory-gate-config.json", gate), (".pi/noodle/config.json", noodle)):
        if content is not None:
            file = tmp_path / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return load_config(env, home=tmp_path)


def test_every_key_and_variable_of_the_gate_is_declared_under_its_known_name() -> None:
    declared = {s.key: s.env for s in SETTINGS if s.file == "gate"}
    assert {key: declared.get(key) for key in SEED_KEYS} == SEED_KEYS


def test_without_files_the_defaults_apply_and_nothing_is_warned(tmp_path: Path) -> None:
    config = load(tmp_path)
    assert config.warnings == ()
    assert config.explicit == frozenset()
    assert config.gate.review_mode == "confirm"
    assert config.gate.session_threshold == 0.8
    assert config.gate.memory_dir == tmp_path / ".pi/agent/memory-gate"
    assert config.noodle.db_path == tmp_path / ".pi/noodle/memories.db"


def test_the_file_beats_the_default_and_the_environment_beats_the_file(tmp_path: Path) -> None:
    config = load(tmp_path, gate={"reviewMode": "off", "window": 5}, GATE_REVIEW_MODE="auto")
    assert (config.gate.review_mode, config.gate.window) == ("auto", 5)
    sources = {line.setting.key: line.source for line in config.report}
    assert (sources["reviewMode"], sources["window"], sources["interval"]) == ("environment", "file", "default")


def test_an_explicit_address_can_be_told_from_the_default_one(tmp_path: Path) -> None:
    assert "decisionModelUrl" not in load(tmp_path).explicit
    assert "decisionModelUrl" in load(tmp_path, gate={"decisionModelUrl": "http://127.0.0.1:8017/"}).explicit


def test_comments_and_trailing_commas_are_allowed_but_text_is_left_alone(tmp_path: Path) -> None:
    config = load(
        tmp_path, gate='{\n  "decisionModelUrl": "http://127.0.0.1:9/a//b", // mine\n  /* x */ "window": 3,\n}'
    )
    assert config.warnings == ()
    assert config.gate.decision_model_url == "http://127.0.0.1:9/a//b"
    assert config.gate.window == 3


@pytest.mark.parametrize(
    ("key", "value", "phrase"),
    [
        ("trigger", "allways", "did you mean always"),
        ("trigger", 3, "one of always, interval, patterns"),
        ("secretThreshold", 1.7, "the nearest is 1"),
        ("secretThreshold", "x", "a number from 0 to 1"),
        ("window", 0, "the nearest is 1"),
        ("window", 2.5, "whole number"),
        ("debug", "maybe", "true or false"),
        ("decisionModelUrl", "ftp://x", "http://"),
        ("decisionModelUrl", "http://me:pw@x", "without a user name"),
        ("memoryDir", 7, "not empty"),
        ("decisionModelId", "  ", "not empty"),
    ],
)
def test_a_bad_value_gives_one_warning_and_the_default(tmp_path: Path, key: str, value: object, phrase: str) -> None:
    config = load(tmp_path, gate={key: value})
    (warning,) = config.warnings
    assert key in warning
    assert phrase in warning
    assert "default" in warning
    assert key not in config.explicit
    line = next(line for line in config.report if line.setting.key == key)
    assert (line.source, line.asked is None) == ("default", False)


def test_a_bad_variable_falls_back_to_the_file(tmp_path: Path) -> None:
    config = load(tmp_path, gate={"window": 7}, GATE_WINDOW="many")
    assert config.gate.window == 7
    assert "$GATE_WINDOW" in config.warnings[0]


def test_an_empty_variable_counts_as_unset(tmp_path: Path) -> None:
    assert load(tmp_path, GATE_WINDOW="").warnings == ()


@pytest.mark.parametrize(("said", "used"), [("1", True), ("on", True), ("YES", True), ("0", False), ("off", False)])
def test_variables_say_yes_and_no_in_several_ways(tmp_path: Path, said: str, used: bool) -> None:
    assert load(tmp_path, GATE_DEBUG=said).gate.debug is used


def test_an_unknown_key_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    config = load(tmp_path, gate={"reviewmode": "auto"}, noodle={"db": {"pth": "x"}, "extractor": {"mode": "off"}})
    assert [("reviewMode" in w, "db.path" in w) for w in config.warnings] == [(True, False), (False, True)]


@pytest.mark.parametrize("content", ["{", "[1]", '"x"', "\x00", '{"window": NaN}', "[" * 100_000])
def test_an_unreadable_file_gives_one_warning_and_all_defaults(tmp_path: Path, content: str) -> None:
    config = load(tmp_path, gate=content)
    assert len(config.warnings) == 1
    assert "memory-gate-config.json" in config.warnings[0]
    assert config.gate.window == 20


def test_paths_are_expanded_and_no_folder_is_named_tilde(tmp_path: Path) -> None:
    config = load(
        tmp_path, gate={"memoryDir": "~/x y/ü"}, noodle={"db": {"path": "$DATA/m.db"}}, DATA=str(tmp_path / "d")
    )
    assert config.gate.memory_dir == tmp_path / "x y/ü"
    assert config.noodle.db_path == tmp_path / "d/m.db"
    assert load(tmp_path, gate={"memoryDir": "sub"}).gate.memory_dir == tmp_path / ".pi/agent/sub"
    assert load(tmp_path, gate={"memoryDir": "~other/x"}).warnings


def test_the_agent_directory_follows_pis_own_variable(tmp_path: Path) -> None:
    assert agent_folder({"PI_CODING_AGENT_DIR": "~/elsewhere"}, tmp_path) == tmp_path / "elsewhere"
    config = load_config({"PI_CODING_AGENT_DIR": str(tmp_path / "a")}, home=tmp_path)
    assert config.gate.memory_dir == tmp_path / "a/memory-gate"


def test_the_key_is_masked_in_the_report_and_in_warnings(tmp_path: Path) -> None:
    secret = "k" * 6 + "123456"
    config = load(tmp_path, DECISION_MODEL_KEY=secret)
    assert config.gate.decision_model_key == secret
    assert secret not in repr(config)
    assert mask(secret) in {line.effective for line in config.report}
    assert mask("short") == "*****"


def test_an_error_in_a_file_with_comments_still_points_at_its_line() -> None:
    with pytest.raises(ValueError, match="line 3 column"):
        parse_jsonc('{ // one\n "a": 1,\n "b" 2 }')
