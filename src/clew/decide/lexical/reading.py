"""What the judge reads of a state: the typed sentences, the reply's prose, and everything for the secret question."""

from __future__ import annotations

from dataclasses import dataclass

from clew.core.records import State
from clew.core.text import sentences, set_aside_pastes, shorten

#: Text beyond these limits is left out from the middle, so that the cost of a judgement is bounded.
MAX_RAW_CHARS = 40_000
MAX_TYPED_CHARS = 4_000
MAX_REPLY_CHARS = 1_200
MAX_SCANNED_CHARS = 6_000
MAX_SENTENCES = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A state, cut up for judging.

    Attributes:
        sentences: of what the user typed, in order; never empty.
        reply: prose of the assistant's reply, without code.
        scanned: user's text, pasted parts included, and reply: where the value of a secret may stand.
        pasted_share: pasted characters over all characters of the user's text, in [0, 1].
    """

    sentences: tuple[str, ...]
    reply: str
    scanned: str
    pasted_share: float


def read_state(state: State) -> Reading:
    """Part typed text from pasted text and cut both to what is judged."""
    user = shorten(state.user, MAX_RAW_CHARS)
    typed, pasted = set_aside_pastes(user)
    found = sentences(shorten(typed, MAX_TYPED_CHARS))[:MAX_SENTENCES]
    assistant = shorten(state.assistant or "", MAX_RAW_CHARS)
    prose, _ = set_aside_pastes(shorten(assistant, 4 * MAX_REPLY_CHARS))
    total = len(typed) + len(pasted)
    return Reading(
        sentences=tuple(found) or ("",),
        reply=shorten(prose, MAX_REPLY_CHARS),
        scanned=shorten(user, MAX_SCANNED_CHARS) + "\n" + shorten(assistant, MAX_SCANNED_CHARS // 2),
        pasted_share=len(pasted) / total if total else 0.0,
    )
