"""What the person said lately in this conversation, so that recall need not repeat it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

#: Older messages, and what stands behind this length of one, may be repeated by a recall; nothing else is lost.
MAX_MESSAGES = 200
MAX_TEXT_CHARS = 4_000


class RecentlySaid:
    """The newest messages by entry id, bounded in number and length. For one thread at a time."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, messages: Iterable[tuple[str, str]]) -> None:
        """Take messages, oldest first, each an entry id and its text; one that comes again counts as new."""
        for entry_id, text in messages:
            self._texts.pop(entry_id, None)
            self._texts[entry_id] = text[:MAX_TEXT_CHARS]
        for oldest in list(islice(self._texts, max(len(self._texts) - MAX_MESSAGES, 0))):
            del self._texts[oldest]

    def clear(self) -> None:
        """Forget all of it: another branch is current, or a compaction has cut the conversation."""
        self._texts.clear()

    def snapshot(self) -> Mapping[str, str]:
        """Text by entry id as it is now; at most MAX_MESSAGES references are copied."""
        return dict(self._texts)
