"""Ids that the host sends: screened before they are kept anywhere."""

from __future__ import annotations

import re

from clew.core.errors import InvalidInput
from clew.hosts.pi.protocol import MAX_ID_CHARS

#: What Pi makes itself: UUIDs for sessions, eight hexadecimal digits for entries.
_PIS_OWN = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}")


def screen_id(text: str, field: str) -> str:
    """An id of the host's as it may be kept: a secret in it is redacted.

    Raises:
        InvalidInput: it is longer than MAX_ID_CHARS or holds control characters.
    """
    if len(text) > MAX_ID_CHARS or not all(character.isprintable() for character in text):
        raise InvalidInput(
            f"The field `{field}` is not an id.",
            f"An id has at most {MAX_ID_CHARS} characters and no control characters.",
        )
    if _PIS_OWN.fullmatch(text):
        return text
    from clew.core.secrets import redact  # loading its tables would slow the handshake down

    return redact(text).text
