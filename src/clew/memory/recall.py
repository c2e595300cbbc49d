"""Recall: the few memories that apply to a prompt, as one fenced block, or nothing at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from clew.core.fences import render_fence, strip_fences
from clew.core.ports import MemoryStore
from clew.core.records import Hit, MemoryRecord, Visibility
from clew.core.secrets import redact
from clew.core.slash import is_slash_command
from clew.core.text import normalise, set_aside_pastes, shorten, words
from clew.core.tokens import cut_to_tokens, estimate_tokens

MAX_MEMORIES = 5
MAX_TOKENS = 400
_MAX_LINE_CHARS = 500
_MAX_QUERY_CHARS = 1_000
#: A memory that is cut keeps at least this much of its line: the best one its tag and a few words, others a sentence.
_MIN_BEST_TOKENS = 16
_MIN_CUT_TOKENS = 64
#: How many memories that stand in the conversation already may push new ones out of the search's list.
_MAX_EXTRA_HITS = 20

# Prompts made of these words alone ask for nothing that a memory could answer.
_CHATTER = frozenset(
    "thanks thank you thx ty ok okay k yes yep yeah no nope sure go on ahead continue proceed next please great good nice"
    " cool perfect awesome well done do it that lgtm hi hello hey bye stop right exactly fine got"
    " grazie mille sì si va bene certo perfetto ciao continua ottimo esatto procedi"
    " gracias vale claro bien perfecto hola sigue adelante merci oui non d'accord parfait salut continue vas-y"
    " danke ja nein gut super weiter genau hallo obrigado obrigada sim não certo ótimo olá"
    " 谢谢 好的 好 继续 是的 可以 ありがとう はい いいえ 続けて".casefold().split()
)
_CHATTER_WORDS = frozenset(word for entry in _CHATTER for word in words(entry))


_CATEGORY = re.compile(r"[\w-]{1,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What goes into the prompt.

    Attributes:
        content: the fenced block; None when nothing applies.
        memories: what it holds, in its order.
        mode: how it was found; `none` when no search was made.
    """

    content: str | None
    memories: tuple[MemoryRecord, ...]
    mode: Literal["hybrid", "lexical", "none"]


NOTHING = Recalled(content=None, memories=(), mode="none")


class Recall:
    """Finds what applies to a prompt among the memories that a session may see."""

    def __init__(
        self,
        memories: MemoryStore,
        *,
        project_key: str | None,
        relevance_floor: float,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        """Recall for one project.

        Args:
            relevance_floor: least `Hit.relevance` of a memory that applies.
            max_tokens: estimate for the whole block, its fence included.
        """
        self._memories = memories
        self._visible = Visibility(project_key=project_key)
        self._floor = relevance_floor
        self._max_tokens = max_tokens

    def recall(
        self,
        prompt: str,
        *,
        injected: Mapping[str, int] | None = None,
        said: Mapping[str, str] | None = None,
        deadline: float | None = None,
    ) -> Recalled:
        """Find memories for a prompt.

        Args:
            injected: what stands in the conversation already: id → `updated_at_ms` of that version. It is left out; a
                memory that was changed since comes again, marked as updated.
            said: messages that stand in the conversation, entry id → text; a memory made from one of them would only
                repeat it, unless its text was changed since.
            deadline: `time.monotonic()` second by which an answer is needed.

        Raises:
            StoreError: the search failed.
        """
        query = make_query(prompt)
        if not query:
            return NOTHING
        known = injected or {}
        result = self._memories.search(
            query,
            self._visible,
            limit=MAX_MEMORIES + min(len(known) + len(said or {}), _MAX_EXTRA_HITS),
            min_relevance=self._floor,
            deadline=deadline,
        )
        fresh = [hit for hit in result.hits if not _stands_already(hit.memory, known, said or {})]
        chosen, content = self._fill(_rank(fresh), known)
        return Recalled(content=content or None, memories=tuple(chosen), mode=result.mode)

    def _fill(self, memories: Sequence[MemoryRecord], known: Mapping[str, int]) -> tuple[list[MemoryRecord], str]:
        """Take memories in order as long as the block stays within its budget; the best one is cut rather than left."""
        chosen: list[MemoryRecord] = []
        lines: list[str] = []
        for memory in memories:
            if len(chosen) == MAX_MEMORIES:
                break
            line = _render(memory, is_updated=memory.id in known)
            fitted = line if self._fits([*lines, line]) else self._cut(line, lines)
            if fitted:
                chosen.append(memory)
                lines.append(fitted)
        return chosen, render_fence(lines)

    def _fits(self, lines: Sequence[str]) -> bool:
        return estimate_tokens(render_fence(lines)) <= self._max_tokens

    def _cut(self, line: str, lines: Sequence[str]) -> str:
        """The head of a line that fills what is left of the budget; empty when too little is left to say anything."""
        room = self._max_tokens - estimate_tokens(render_fence([*lines, "…"]))
        least = _MIN_CUT_TOKENS if lines else _MIN_BEST_TOKENS
        while room >= least:
            cut = cut_to_tokens(line, room)
            if self._fits([*lines, cut]):
                return cut
            room -= 1  # the fence made something in the line harmless, which takes more room
        return ""


def _stands_already(memory: MemoryRecord, known: Mapping[str, int], said: Mapping[str, str]) -> bool:
    if memory.id in known:
        return known[memory.id] == memory.updated_at_ms
    source = said.get(memory.provenance.entry_id or "") if memory.provenance else None
    return source is not None and normalise(memory.text).rstrip(".") in normalise(source)


def make_query(prompt: str) -> str:
    """What to search for; empty for chatter, slash commands and prompts without words."""
    text = strip_fences(prompt).strip()
    if is_slash_command(text):
        return ""
    query = normalise(set_aside_pastes(text)[0]) or normalise(text)
    asked = words(query[:_MAX_QUERY_CHARS])
    if all(word in _CHATTER_WORDS for word in asked):
        return ""
    return shorten(query, _MAX_QUERY_CHARS)


def _rank(hits: Sequence[Hit]) -> list[MemoryRecord]:
    """Best first; of equal scores the newest first."""
    return [hit.memory for hit in sorted(hits, key=lambda hit: (-hit.score, -hit.memory.created_at_ms))]


def _render(memory: MemoryRecord, *, is_updated: bool) -> str:
    moment = memory.updated_at_ms if is_updated else memory.created_at_ms
    text = normalise(shorten(redact(normalise(memory.text)).text, _MAX_LINE_CHARS))
    return f"[{_tag(memory.category)}, {'updated ' if is_updated else ''}{_day(moment)}] {text}"


def _tag(category: str) -> str:
    """A category as it may stand in a prompt: one plain word; a stored one may be anything, even a planted order."""
    return category if _CATEGORY.fullmatch(redact(category).text) else "memory"


def _day(moment_ms: int) -> str:
    try:
        return datetime.fromtimestamp(moment_ms / 1000, tz=UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):
        return "date unknown"  # a database written by something else may hold any number
