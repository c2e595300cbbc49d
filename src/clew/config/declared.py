"""Every setting, declared once: its key, its environment variable, its default and what it may be.

Two files, with the names and keys that users of the gate and of Noodle already have:
`<agent dir>/memory-gate-config.json` (flat keys) and `~/.pi/noodle/config.json` (keys with dots are nested objects).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from clew.config.checks import Check, boolean, number, one_of, text, web_address, whole_number

SettingsFile = Literal["gate", "noodle"]
DEFAULT_DECISION_MODEL_URL = "http://127.0.0.1:8017"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting.

    Attributes:
        name: attribute of GateConfig or NoodleConfig that holds the value.
        key: key in the settings file; dots separate nested objects.
        env: environment variable that overrides the file, if there is one.
        check: turns a raw value into the value to use, or raises ValueError; None for paths, whose check needs to
            know the home folder (see `load`).
        default: value when nothing is said; a path default is text and goes through the same expansion.
        help: one line for the settings reference.
        is_secret: the value is masked wherever it is shown.
    """

    file: SettingsFile
    name: str
    key: str
    env: str | None
    default: Any
    help: str
    check: Check | None
    is_secret: bool = False

    @property
    def is_used(self) -> bool:
        """Whether this version acts on the setting. The others are read, checked and shown, and marked as such."""
        return self.key not in NOT_USED_YET

    @property
    def is_path(self) -> bool:
        """Whether the value is a path."""
        return self.check is None


def _setting(file: SettingsFile) -> Callable[..., Setting]:
    def declare(
        name: str, key: str, env: str | None, default: Any, help_: str, check: Check | None, *, is_secret: bool = False
    ) -> Setting:
        return Setting(
            file=file, name=name, key=key, env=env, default=default, help=help_, check=check, is_secret=is_secret
        )

    return declare


_PATH = None
_gate = _setting("gate")
_noodle = _setting("noodle")
_share = number(0, 1)

SETTINGS: tuple[Setting, ...] = (
    _gate("decision_model_url", "decisionModelUrl", "DECISION_MODEL_URL", DEFAULT_DECISION_MODEL_URL,
          "Address of a System One server. Unset: a server at the default address if one answers, else the built-in judge", web_address),
    _gate("decision_model_id", "decisionModelId", "DECISION_MODEL_ID", "rizzo-latest", "Model name sent to that server", text),
    _gate("memory_dir", "memoryDir", "GATE_MEMORY_DIR", "{agent_dir}/memory-gate", "Folder of the gate's files", _PATH),
    _gate("debug", "debug", "GATE_DEBUG", False, "Full scores in the log file", boolean),
    _gate("trigger", "trigger", "GATE_TRIGGER", "always", "When turns are judged", one_of("always", "interval", "patterns")),
    _gate("interval", "interval", "GATE_INTERVAL", 10, "Turns between evaluations, for trigger interval", whole_number(1)),
    _gate("window", "window", "GATE_WINDOW", 20, "Recent messages looked at per evaluation", whole_number(1)),
    _gate("patterns_path", "patternsPath", "GATE_PATTERNS_PATH", None, "Trigger patterns; unset: the bundled file", _PATH),
    _gate("questions_path", "questionsPath", "GATE_QUESTIONS_PATH", None, "Questionnaire; unset: the bundled file", _PATH),
    _gate("secret_threshold", "secretThreshold", "GATE_SECRET_THRESHOLD", 0.5, "Veto at this probability of a secret", _share),
    _gate("session_threshold", "sessionThreshold", "GATE_SESSION_THRESHOLD", 0.8, "Veto at this probability of a temporary instruction", _share),
    _gate("durable_threshold", "durableThreshold", "GATE_DURABLE_THRESHOLD", 0.5, "Durable at this probability, together with importanceMin", _share),
    _gate("failure_threshold", "failureThreshold", "GATE_FAILURE_THRESHOLD", 0.5, "A lesson passes alone at this probability", _share),
    _gate("importance_threshold", "importanceThreshold", "GATE_IMPORTANCE_THRESHOLD", 2.5, "Importance (0 to 4) that passes alone", number(0, 4)),
    _gate("importance_min", "importanceMin", "GATE_IMPORTANCE_MIN", 1.5, "Least importance (0 to 4) beside durableThreshold", number(0, 4)),
    _gate("max_queue", "maxQueue", "GATE_MAX_QUEUE", 20, "Candidates that wait for review; the oldest falls off", whole_number(1)),
    _gate("review_mode", "reviewMode", "GATE_REVIEW_MODE", "confirm", "confirm: you approve; auto: saved at once; off: observe only", one_of("confirm", "auto", "off")),
    _gate("synthesize", "synthesize", "GATE_SYNTHESIZE", True, "Rewrite approved candidates with the session's model", boolean),
    _gate("synth_prompt_path", "synthPromptPath", "GATE_SYNTH_PROMPT_PATH", None, "Prompt for that rewriting; unset: the built-in one", _PATH),
    _gate("relevant_threshold", "relevantThreshold", "GATE_RELEVANT_THRESHOLD", 0.5, "Consolidation drops memories below this relevance", _share),
    _gate("same_fact_threshold", "sameFactThreshold", "GATE_SAME_FACT_THRESHOLD", 0.55, "Consolidation ignores pairs below this probability", _share),
    _gate("hard_drop_threshold", "hardDropThreshold", "GATE_HARD_DROP_THRESHOLD", 0.7, "Certainty needed to drop a duplicate without a merge", _share),
    _gate("pair_jaccard_min", "pairJaccardMin", "GATE_PAIR_JACCARD_MIN", 0.3, "Least word overlap of a pair worth comparing", _share),
    _gate("consolidate_questions_path", "consolidateQuestionsPath", "GATE_CONSOLIDATE_QUESTIONS_PATH", None, "Relevance question; unset: the bundled file", _PATH),
    _gate("pair_questions_path", "pairQuestionsPath", "GATE_PAIR_QUESTIONS_PATH", None, "Pair questions; unset: the bundled file", _PATH),
    _gate("calib_threshold", "calibThreshold", "GATE_CALIB_THRESHOLD", 200, "Logged decisions before the notice that a refit is due", whole_number(1)),
    _gate("tui_log", "tuiLog", "GATE_TUI_LOG", "notify", "How the gate's messages are shown", one_of("notify", "widget", "off")),
    _gate("decision_model_key", "decisionModelKey", "DECISION_MODEL_KEY", None, "Bearer key for the System One server", text, is_secret=True),
    _noodle("db_mode", "db.mode", None, "local", "Where memories live", one_of("local", "cloud", "sync")),
    _noodle("db_path", "db.path", "NOODLE_DB_PATH", "~/.pi/noodle/memories.db", "Database file", _PATH),
    _noodle("embedding_provider", "embedding.provider", None, "builtin", "What makes the vectors", one_of("builtin", "openai", "lm_studio", "ollama", "custom")),
    _noodle("recall_enabled", "recall.enabled", "CLEW_RECALL", True, "Put memories that apply into the prompt", boolean),
    _noodle("recall_deadline_ms", "recall.deadlineMs", "CLEW_RECALL_DEADLINE_MS", 150, "Longest that a recall may hold Pi up", whole_number(10, 10_000)),
    _noodle("recall_max_tokens", "recall.maxTokens", "CLEW_RECALL_MAX_TOKENS", 400, "Most tokens a recall may add to a prompt (estimate)", whole_number(0, 400)),
)  # fmt: skip

#: Keys that users' files may hold and that this version does not act on.
NOT_USED_YET = frozenset({
    "debug", "trigger", "interval", "patternsPath", "synthesize", "synthPromptPath", "relevantThreshold", "sameFactThreshold",
    "hardDropThreshold", "pairJaccardMin", "consolidateQuestionsPath", "pairQuestionsPath", "calibThreshold", "db.mode",
    "embedding.provider",
})  # fmt: skip

#: Keys of Noodle's file that a later version will read. They are known, so they raise no warning about a typo.
KNOWN_LATER: dict[SettingsFile, tuple[str, ...]] = {
    "gate": (),
    "noodle": (
        "db.url", "db.authToken", "db.syncIntervalSeconds", "db.driver", "embedding.apiKey", "embedding.baseUrl",
        "embedding.model", "embedding.dimensions", "extractor.mode", "extractor.model", "extractor.triggerEvery", "extractor.debug",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class GateConfig:
    """Values in force of the gate's file. Meaning and bounds: SETTINGS."""

    decision_model_url: str
    decision_model_id: str
    decision_model_key: str | None = field(repr=False)
    memory_dir: Path
    debug: bool
    trigger: str
    interval: int
    window: int
    patterns_path: Path | None
    questions_path: Path | None
    secret_threshold: float
    session_threshold: float
    durable_threshold: float
    failure_threshold: float
    importance_threshold: float
    importance_min: float
    max_queue: int
    review_mode: str
    synthesize: bool
    synth_prompt_path: Path | None
    relevant_threshold: float
    same_fact_threshold: float
    hard_drop_threshold: float
    pair_jaccard_min: float
    consolidate_questions_path: Path | None
    pair_questions_path: Path | None
    calib_threshold: int
    tui_log: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoodleConfig:
    """Values in force of Noodle's file. Meaning and bounds: SETTINGS."""

    db_mode: str
    db_path: Path
    embedding_provider: str
    recall_enabled: bool
    recall_deadline_ms: int
    recall_max_tokens: int
