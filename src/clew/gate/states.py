"""From messages to states: one per message of the person, with the reply that follows and the reply before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from clew.core.fences import strip_fences
from clew.core.pastes import abridge_pastes
from clew.core.records import CapturedState, Message, State
from clew.core.secrets import Redacted, redact
from clew.core.slash import is_slash_command
from clew.core.text import shorten

#: Each text that a decision model sees is cut to this length, keeping its head and its tail.
MAX_TEXT_CHARS = 4_000
#: Nobody types more than this in one message: a longer one counts as pasted as a whole.
MAX_TYPED_CHARS = 20_000
#: How many messages of the person and the agent are looked at per evaluation (setting `window`).
DEFAULT_WINDOW_MESSAGES = 20

_FAILED_ATTEMPT = frozenset({"error", "aborted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A message of the person (None before their first) and the agent's messages up to the next one."""

    user: Message | None
    replies: tuple[Message, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages of the exchange, oldest first."""
        return self.replies if self.user is None else (self.user, *self.replies)

    @property
    def is_finished(self) -> bool:
        """Whether the last reply is an answer and not a step of a tool loop."""
        return not self.replies or self.replies[-1].stop_reason != "toolUse"


def split_exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """Group messages, oldest first, into exchanges. An exchange without a person's message stands first at most."""
    groups: list[tuple[Message | None, list[Message]]] = []
    for message in messages:
        if message.role == "user":
            groups.append((message, []))
        elif groups:
            groups[-1][1].append(message)
        else:
            groups.append((None, [message]))
    return [Exchange(user=user, replies=tuple(replies)) for user, replies in groups]


def build_states(
    messages: Sequence[Message],
    *,
    session_id: str,
    project_key: str | None,
    project_name: str | None,
    settled: bool,
    owner: int,
    window: int = DEFAULT_WINDOW_MESSAGES,
) -> list[CapturedState]:
    """One state per message of the person, oldest first.

    Left out: messages without words of the person's own (images, slash commands, private blocks only). Texts lose
    fences and private blocks, and secrets in them are replaced by their kind, before anything is kept. Of a long
    message the pastes are left out, never what was typed.

    Args:
        messages: the conversation or its tail, oldest first.
        settled: the run has ended, so that the last reply is complete.
        owner: process id of this engine.
        window: states are built for the last `window` messages, the replies of one tool loop counting as one.
    """
    exchanges = split_exchanges(messages)
    first = len(exchanges) - _count_in_window(exchanges, window)
    states: list[CapturedState] = []
    for index, exchange in enumerate(exchanges):
        if index < first or exchange.user is None:
            continue
        is_last = index == len(exchanges) - 1
        user = _clean(exchange.user.text)
        if not user.text or is_slash_command(user.text):
            continue
        reply = _join_replies(exchange.replies)
        before = _join_replies(exchanges[index - 1].replies if index else ())
        states.append(
            CapturedState(
                key=f"{exchange.user.entry_id}:{exchange.user.timestamp_ms}",
                entry_id=exchange.user.entry_id,
                session_id=session_id,
                project_key=project_key,
                state=State(
                    user=_bound(user.text),
                    assistant=shorten(reply.text, MAX_TEXT_CHARS) or None,
                    previous_assistant=shorten(before.text, MAX_TEXT_CHARS) or None,
                    project=project_name,
                ),
                timestamp_ms=exchange.user.timestamp_ms,
                secret_kinds=tuple(dict.fromkeys(user.kinds + reply.kinds)),
                is_open=is_last and not (settled and exchange.is_finished),
                owner=owner,
            )
        )
    return states


def keep_tail(messages: Sequence[Message], window: int) -> list[Message]:
    """The messages that later states can still need: those in the window and the exchange before it."""
    exchanges = split_exchanges(messages)
    tail = exchanges[-(_count_in_window(exchanges, window) + 1) :]
    return [message for exchange in tail for message in exchange.messages]


def _count_in_window(exchanges: Sequence[Exchange], window: int) -> int:
    """How many of the last exchanges have their person's message within the last `window` messages."""
    seen = 0
    for count, exchange in enumerate(reversed(exchanges)):
        seen += (exchange.user is not None) + bool(exchange.replies)
        if seen > window:
            # The newest exchange is always looked at: a window of 1 would otherwise see replies only.
            return max(count, 1)
    return len(exchanges)


def _join_replies(replies: Sequence[Message]) -> Redacted:
    """What the agent said in the run, cleaned. An attempt that failed and was made again is left out."""
    last = len(replies) - 1
    cleaned = [_clean(r.text) for i, r in enumerate(replies) if i == last or r.stop_reason not in _FAILED_ATTEMPT]
    return Redacted(
        text="\n\n".join(reply.text for reply in cleaned if reply.text),
        kinds=tuple(dict.fromkeys(kind for reply in cleaned for kind in reply.kinds)),
    )


def _bound(text: str) -> str:
    """A message short enough for the journal, in which the same counts as typed as in the whole.

    Cut anywhere, a paste could lose the line that opens it, and its rest would speak for the person.
    """
    if len(text) <= MAX_TEXT_CHARS:
        return text
    abridged = abridge_pastes(text)
    if len(abridged) <= MAX_TYPED_CHARS:
        return abridged
    return "\n".join(f"> {line}" for line in shorten(text, MAX_TEXT_CHARS).splitlines())


# A reply is looked at with each further step of its tool loop, and again as the reply before the next message.
@lru_cache(maxsize=64)
def _clean(text: str) -> Redacted:
    """The text without fences and secret values. Never cut before: half a key would no longer look like one."""
    redacted = redact(strip_fences(text).strip())
    return Redacted(text=redacted.text.strip(), kinds=tuple(redacted.kinds))
