"""The one guard of every write path. What it lets through may be stored, logged and put into a prompt."""

from __future__ import annotations

from clew.core.errors import InjectionFound, InvalidInput, SecretFound
from clew.core.injections import find_injections
from clew.core.secrets import find_secrets
from clew.core.text import normalise

#: A longer text is not a statement.
MAX_MEMORY_CHARS = 20_000


def screen(text: str) -> str:
    """The text in its normal form, if it may be stored.

    The raw text and the normal form are both searched, so that neither line breaks nor invisible characters hide
    anything.

    Raises:
        InvalidInput: nothing is left after normalising, or more than 20,000 characters.
        SecretFound: it holds the value of a secret.
        InjectionFound: it tries to give orders to the agent that reads it.
    """
    clean = normalise(text)
    if not clean:
        raise InvalidInput("Not saved: the text is empty.", "Give the statement that should be kept.")
    if len(clean) > MAX_MEMORY_CHARS:
        raise InvalidInput(
            f"Not saved: the text has {len(clean):,} characters; a memory has at most {MAX_MEMORY_CHARS:,}.",
            "Save the statement that matters.",
        )
    forms = dict.fromkeys((text, clean))
    kinds = dict.fromkeys(span.kind for form in forms for span in find_secrets(form))
    if kinds:
        raise SecretFound(tuple(kinds))
    orders = dict.fromkeys(kind for form in forms for kind in find_injections(form))
    if orders:
        raise InjectionFound(tuple(orders))
    return clean
