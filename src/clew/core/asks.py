"""Explicit requests to remember something, in eight languages.

The rules:

- Only what the person typed counts: pasted, quoted and fenced text asks nothing.
- The ask opens a sentence (after "please", "ok", "could you …"), stands behind a conjunction ("…, and remember that
  …") or closes the sentence, as Japanese does. "Do you remember", "I remember" and "don't remember" ask nothing.
- The statement ends with its sentence. Asks that follow in the same paragraph join it. Behind a colon that ends a
  line or that follows "this", everything up to the next blank line belongs to it.
- An action ("remember to …") is a statement only if it holds beyond this turn: "remember to use pnpm by default" is a
  rule, "remember to run the tests now" is a to-do and no memory.
- A statement that is later taken back ("never mind", "don't save that") is none.
"""

# ruff: noqa: RUF001 - words and marks of many scripts

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from clew.core import ask_phrases as phrases
from clew.core.fences import strip_fences
from clew.core.records import Scope
from clew.core.text import normalise, sentences, set_aside_pastes

_MAX_MESSAGE_CHARS = 20_000
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_LIST_MARK = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_LEADING = re.compile(r"^(?:that\s|to\s|use\s|che\s|di\s|que\s|de\s|dass\s)+", re.IGNORECASE)
_INTRODUCES = re.compile(
    r"(?:\b(?:this|these|following|questo|seguente|esto|siguiente|ceci|suivant|das|folgendes|isto|isso)|以下.{0,4}|下面.{0,4}"
    r"|次のことを.{0,20})\s?[:：]\s*$",
    re.IGNORECASE,
)
# "Could you remember that …?" is a question in form only.
_REQUEST = re.compile(r"\b(?:you|puoi|potresti|puedes|podrías|tu|vous|du|pode\w*)\b|能|可以", re.IGNORECASE)
_QUOTES = '"“„«「『”»」』'
_QUESTION = ("?", "？", "吗", "嗎")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What the person asks to remember.

    Attributes:
        text: the statement, on one line, without the words of asking.
        category: `identity`, `response_style`, `coding_pref`, `project` or `memory`.
        scope: `project` when it speaks of this project or its people, or of neither project nor person; else `user`.
        is_temporary: it is said to hold only for now, for a task or for this session.
    """

    text: str
    category: str
    scope: Scope
    is_temporary: bool


def find_ask(text: str) -> Ask | None:
    """The first explicit request to remember something in a message, or None. Rules: see the module."""
    typed, _ = set_aside_pastes(strip_fences(text))
    return None if phrases.RETRACTED.search(typed) else _find(typed)


def takes_back_ask(typed: str) -> bool:
    """Whether the typed part of a message asks to remember something and takes that back ("never mind")."""
    return phrases.RETRACTED.search(typed) is not None and _find(typed) is not None


def _find(typed: str) -> Ask | None:
    if not typed or len(typed) > _MAX_MESSAGE_CHARS:
        return None
    paragraphs = _BLANK_LINE.split(typed)
    for index, paragraph in enumerate(paragraphs):
        following = paragraphs[index + 1] if index + 1 < len(paragraphs) else ""
        statement = _statement_of(paragraph, following)
        if statement:
            return classify_statement(statement)
    return None


def _statement_of(paragraph: str, following: str) -> str:
    """The statement asked for in a paragraph; a paragraph that is only an opening introduces the next one."""
    said = sentences(paragraph)
    for index, sentence in enumerate(said):
        opened = _opened(sentence)
        if opened is None:
            continue
        opening, rest = opened
        ends_in_colon = opening.rstrip().endswith((":", "："))
        if _INTRODUCES.search(opening) or (ends_in_colon and not rest):
            return _joined([rest, *said[index + 1 :]] if rest or said[index + 1 :] else [following])
        if not rest:
            rest = said[index - 1] if index else ""
        if rest:
            return _joined([rest, *_further_asks(said[index + 1 :])])
    return ""


def _further_asks(said: Sequence[str]) -> list[str]:
    found: list[str] = []
    for sentence in said:
        opened = _opened(sentence)
        if opened is None or not opened[1]:
            break
        found.append(opened[1])
    return found


def _opened(sentence: str) -> tuple[str, str] | None:
    """The words of asking and the statement behind them, if the sentence asks; the statement may be empty."""
    sentence = _LIST_MARK.sub("", sentence)
    for start in _starts(sentence):
        for language in phrases.LANGUAGES:
            match = language.opening.match(sentence, start)
            if match is None or not _is_whole_word(sentence, match.end()):
                continue
            rest = sentence[match.end() :]
            if _is_asked(match.group(), rest, language) and (not start or _clean(rest)):
                return match.group(), _clean(rest)
    return _closing_ask(sentence)


def _starts(sentence: str) -> list[int]:
    starts = [0]
    for match in phrases.INNER.finditer(sentence):
        before = sentence[: match.start()]
        is_quoted = sum(map(before.count, _QUOTES)) % 2 == 1
        if not is_quoted and not phrases.REPORTED.search(before):
            starts.append(match.end())
    return starts


def _is_whole_word(sentence: str, end: int) -> bool:
    return not (
        sentence[end - 1 : end].isascii() and sentence[end - 1 : end].isalpha() and sentence[end : end + 1].isalnum()
    )


def _is_asked(opening: str, rest: str, language: phrases.Phrases) -> bool:
    if language.not_a_statement.match(rest) or (rest.startswith(tuple(_QUOTES)) and not opening.rstrip().endswith(":")):
        return False
    if _is_question(rest) and not _REQUEST.search(opening):
        return False
    if language.task.match(rest):
        return _is_rule(rest)
    return True


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”»」』) ").endswith(_QUESTION)


def _is_rule(action: str) -> bool:
    """An action that is asked for again and again, or for a named stretch of time, not just now."""
    if phrases.TEMPORARY.search(action):
        return True
    return phrases.LASTING.search(action) is not None and phrases.THIS_TURN.search(action) is None


def _closing_ask(sentence: str) -> tuple[str, str] | None:
    for pattern in (phrases.VERB_FINAL, phrases.BACKWARD):
        match = pattern.match(sentence)
        if match is None:
            continue
        statement = next(group for group in match.groups() if group)
        if statement[0] not in _QUOTES and not phrases.REPORTED.search(statement):
            return sentence[match.end(match.lastindex or 0) :], _clean(statement)
    return None


def _clean(rest: str) -> str:
    rest = _LEADING.sub("", normalise(rest))
    return rest.strip(" ,;:、，：").rstrip(".。!！?？ ").strip()


def _joined(parts: Sequence[str]) -> str:
    lines = [_LIST_MARK.sub("", line) for part in parts for line in part.splitlines()]
    cleaned = [line.strip().rstrip(".。") for line in lines if line.strip()]
    if len(cleaned) < 2:
        return "".join(_clean(line) for line in cleaned)
    return normalise(". ".join(cleaned))


def classify_statement(statement: str) -> Ask:
    """Where a statement belongs, by its words: category and scope, and whether it is meant for now only."""
    is_of_project = phrases.PROJECT.search(statement) is not None
    is_personal = phrases.PERSONAL.search(statement) is not None
    category = _category(statement)
    scope: Scope = "user"
    if category != "identity" and (is_of_project or (category == "project" and not is_personal)):
        scope = "project"
    if category == "project" and scope == "user":
        category = "memory"
    return Ask(
        text=statement,
        category=category,
        scope=scope,
        is_temporary=phrases.TEMPORARY.search(statement) is not None,
    )


def _category(statement: str) -> str:
    if phrases.IDENTITY.search(statement):
        return "identity"
    if phrases.STYLE.search(statement):
        return "response_style"
    if phrases.CODING.search(statement):
        return "coding_pref"
    return "project"
