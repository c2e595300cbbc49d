"""Recall: the few memories that apply to a prompt, as one fenced block, or nothing at all."""

from __future__ import annotations

import re
import time
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
from clew.memory.evidence import other_words, shares_only_everyday_words
from clew.memory.standing import asks_about_the_person, categories_for, rank_standing

MAX_MEMORIES = 5
MAX_TOKENS = 400
_MAX_LINE_CHARS = 500
_MAX_QUERY_CHARS = 1_000
#: A memory that is cut keeps at least this much of its line: the best one its tag and a few words, others a sentence.
_MIN_BEST_TOKENS = 16
_MIN_CUT_TOKENS = 64
#: How many memories that stand in the conversation already may push new ones out of the search's list.
_MAX_EXTRA_HITS = 20
#: How many hits that share nothing but everyday words may stand before those that apply.
_MAX_CHANCE_HITS = 10
#: Standing preferences: how many are looked at, how many may join what was found, and in how much of the budget.
_NEWEST_STANDING = 50
MAX_STANDING = 3
MAX_STANDING_TOKENS = 150

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
        spoken = said or {}
        result = self._memories.search(
            query,
            self._visible,
            limit=MAX_MEMORIES + _MAX_CHANCE_HITS + min(len(known) + len(spoken), _MAX_EXTRA_HITS),
            min_relevance=self._floor,
            deadline=deadline,
        )
        asked = words(query)
        found = [
            hit
            for hit in result.hits
            if not _stands_already(hit.memory, known, spoken) and not shares_only_everyday_words(asked, hit.text)
        ]
        block = _Block(max_tokens=self._max_tokens, known=known)
        block.fill(_rank(found))
        standing = [m for m in self._standing(query, deadline) if not _stands_already(m, known, spoken)]
        if asks_about_the_person(query):
            block.fill(standing)
        else:
            block.fill(standing, most=MAX_STANDING, tokens=MAX_STANDING_TOKENS)
        return Recalled(content=block.render() or None, memories=tuple(block.memories), mode=result.mode)

    def _standing(self, query: str, deadline: float | None) -> list[MemoryRecord]:
        """The standing preferences of the person that bear on a prompt, best first."""
        categories = categories_for(query)
        if not categories or (deadline is not None and time.monotonic() >= deadline):
            return []
        return rank_standing(self._memories.list(Visibility(categories=categories), limit=_NEWEST_STANDING), query)


class _Block:
    """The lines of one block, filled memory by memory as long as it stays within its budget."""

    def __init__(self, *, max_tokens: int, known: Mapping[str, int]) -> None:
        self.memories: list[MemoryRecord] = []
        self._lines: list[str] = []
        self._max_tokens = max_tokens
        self._known = known

    def render(self) -> str:
        """The fenced block; empty when nothing is in it."""
        return render_fence(self._lines)

    def fill(self, memories: Sequence[MemoryRecord], *, most: int = MAX_MEMORIES, tokens: int | None = None) -> None:
        """Take memories in order; the best one is cut rather than left out.

        Args:
            most: at most so many of these, and MAX_MEMORIES in all.
            tokens: these may take so much of the budget; None = all that is left.
        """
        start = len(self._lines)
        taken = {memory.id for memory in self.memories}
        for memory in memories:
            if len(self._lines) == min(start + most, MAX_MEMORIES):
                break
            line = "" if memory.id in taken else self._fit(_render(memory, is_updated=memory.id in self._known))
            if line and (tokens is None or sum(map(estimate_tokens, [*self._lines[start:], line])) <= tokens):
                self.memories.append(memory)
                self._lines.append(line)

    def _fit(self, line: str) -> str:
        return line if self._fits([*self._lines, line]) else self._cut(line)

    def _fits(self, lines: Sequence[str]) -> bool:
        return estimate_tokens(render_fence(lines)) <= self._max_tokens

    def _cut(self, line: str) -> str:
        """The head of a line that fills what is left of the budget; empty when too little is left to say anything."""
        lines = self._lines
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
    return " ".join([shorten(query, _MAX_QUERY_CHARS), *other_words(asked)])


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
