"""The built-in judge, so that the gate works with nothing else installed.

Two tiers: `encoder` joins a small fine-tuned network to the lexical heads; `lexical` needs no model runtime and takes a
few milliseconds. It answers the bundled questions by id and type; their wording is ignored, because trained heads
cannot read. For any other question it abstains: the answer is an even prior and listed in `Decision.abstained`.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from clew.core.decisions import Decision, Question
from clew.core.errors import DecisionModelError, ModelUnavailable
from clew.core.records import DatedEntry, EntryPair, Judged, State

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from clew.decide.encoder.tier import Encoder
    from clew.decide.lexical.model import Weights

    Floats = NDArray[np.float32]

Tier = Literal["auto", "lexical", "encoder"]
NAMES: Mapping[Tier, str] = {"lexical": "clew-judge-lexical", "encoder": "clew-judge-encoder"}
_MAX_HIGHLIGHTS = 3


class Adjusts(Protocol):
    """What was learnt from one person's answers."""

    @property
    def fingerprint(self) -> str:
        """Identity of what was learnt."""
        ...

    def apply(self, logits: Floats, features: Floats) -> Floats:
        """The person's logits [gate heads] from the shipped ones and the hand features."""
        ...


@dataclass(frozen=True, kw_only=True)
class StateScores:
    """Everything that the judge makes of a message.

    Attributes:
        logits: one for each gate head; what answers rest on.
        features: hand features of the message as a whole.
        highlights: the sentences likeliest to be worth saving, best first.
    """

    logits: Floats
    features: Floats
    highlights: tuple[str, ...]


class BuiltinJudge:
    """A DecisionModel made of word lists, character n-grams, trained heads and, in its encoder tier, a network.

    Everything is read at the first decision. May be used from several threads.

    Args:
        tier: `auto` takes the encoder where its files and onnxruntime are there, and the lexical tier elsewhere.
        weights_path: another weights file; None takes the one that comes with Clew.
        models: folder with the network; None takes the one that comes with Clew.
        adjustment: what was learnt from a person's answers.
        personal_path: file with what was learnt, read when the judge is opened; instead of `adjustment`.
    """

    address = "built in"

    def __init__(
        self,
        *,
        tier: Tier = "auto",
        weights_path: Path | None = None,
        models: Path | None = None,
        adjustment: Adjusts | None = None,
        personal_path: Path | None = None,
    ) -> None:
        self._wanted = tier
        self._weights_path = weights_path
        self._models = models
        self._given = adjustment
        self._personal_path = personal_path
        self._opening = threading.Lock()
        self._problem: str | None = None

    @property
    def name(self) -> str:
        """Which tier answers. Opens it, which takes a moment the first time."""
        return NAMES["encoder" if self._encoder else "lexical"]

    @property
    def warning(self) -> str | None:
        """Why the encoder does not answer, or why what was learnt is not applied; None if all is in place."""
        encoder_problem = self._problem if not self._encoder else None
        return " ".join(filter(None, (encoder_problem, self._learnt[1]))) or None

    @property
    def fingerprint(self) -> str:
        """sha256 of the weights in use, the network's and what was learnt included."""
        own = self.base_fingerprint
        return _digest(own, self._adjustment.fingerprint) if self._adjustment else own

    @property
    def base_fingerprint(self) -> str:
        """The fingerprint as shipped, without what was learnt."""
        own = self._weights.fingerprint
        return _digest(own, self._encoder.fingerprint) if self._encoder else own

    def warm_up(self) -> None:
        """Load everything now, so that the first decision is as quick as the next."""
        self.score(State(user=""))

    def decide(self, state: Judged, questions: Mapping[str, Question]) -> Decision:
        """Answer all questions about one state. Never raises for any text.

        Raises:
            DecisionModelError: the encoder tier was demanded, and cannot be opened.
        """
        from clew.decide.answers import answer_entry, answer_pair, answer_state

        if isinstance(state, EntryPair):
            answered = answer_pair(self.score_pair(state), questions)
        elif isinstance(state, DatedEntry):
            answered = answer_entry(self.score_entry(state), questions)
        else:
            answered = answer_state(self.score(state), state, questions)
        return answered.as_decision(self.name, self.fingerprint)

    def score(self, state: State) -> StateScores:
        """Logits of a message, and what they rest on."""
        from clew.decide.lexical.features import extract_features
        from clew.decide.lexical.model import rank_sentences
        from clew.decide.lexical.reading import read_state

        reading = read_state(state)
        features = extract_features(reading)
        lexical = self._weights.score(features)
        ranks = rank_sentences(lexical.by_sentence).tolist()
        logits = lexical.combined
        if self._encoder:
            from clew.decide.encoder.tier import ScoredMessage

            message = ScoredMessage(
                reading=reading,
                lexical=lexical,
                ranks=ranks,
                language=features.language,
                previous_assistant=state.previous_assistant,
            )
            logits = self._encoder.join_message(message)
        if self._adjustment:
            logits = self._adjustment.apply(logits, features.whole)
        return StateScores(
            logits=logits, features=features.whole, highlights=_choose_highlights(ranks, reading.sentences)
        )

    def score_pair(self, pair: EntryPair) -> Floats:
        """Logits of the pair heads, [pair heads]."""
        from clew.decide.lexical.pairs import extract_pair_features

        features = extract_pair_features(pair)
        return self._encoder.join_pair(features, pair) if self._encoder else self._weights.score_pair(features)

    def score_entry(self, entry: DatedEntry) -> float:
        """The logit of whether the entry still holds."""
        from clew.decide.lexical.features import extract_features
        from clew.decide.lexical.model import relevance_inputs
        from clew.decide.lexical.reading import read_state

        lexical = self._weights.score(extract_features(read_state(State(user=entry.entry))))
        if self._encoder:
            return self._encoder.join_entry(lexical, entry)
        combine = self._weights.combine_relevance
        return float(relevance_inputs(lexical.whole) @ combine[:-1] + combine[-1])

    @property
    def _adjustment(self) -> Adjusts | None:
        return self._learnt[0]

    @cached_property
    def _learnt(self) -> tuple[Adjusts | None, str | None]:
        """What was learnt, and why it is not applied if it is not."""
        if self._personal_path is None:
            return self._given, None
        from clew.decide.personal.versions import read_adjustment

        return read_adjustment(self._personal_path, self.base_fingerprint)

    @cached_property
    def _weights(self) -> Weights:
        from clew.decide.lexical.model import WEIGHTS_FILE, load_weights

        return load_weights(self._weights_path or WEIGHTS_FILE)

    @property
    def _encoder(self) -> Encoder | None:
        with self._opening:
            return self._opened_encoder

    @cached_property
    def _opened_encoder(self) -> Encoder | None:
        if self._wanted == "lexical":
            return None
        from clew.decide.encoder.tier import open_encoder

        try:
            return open_encoder(self._weights, self._models)
        except ModelUnavailable as error:
            if self._wanted == "encoder":
                raise DecisionModelError(
                    f"The judge's encoder cannot be used: {error.what}", error.next_step
                ) from error
            self._problem = f"The judge answers without its encoder: {error}"
            return None


def _choose_highlights(ranks: list[float], sentences: tuple[str, ...]) -> tuple[str, ...]:
    """The foremost sentences; empty ones and ones clearly behind the best are left out."""
    ranked = sorted(range(len(sentences)), key=lambda index: (-ranks[index], index))
    kept = [index for index in ranked if ranks[index] >= min(0.0, ranks[ranked[0]])]
    return tuple(sentences[index] for index in (kept or ranked)[:_MAX_HIGHLIGHTS] if sentences[index])


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
