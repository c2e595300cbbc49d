"""Every error that Clew raises on purpose, on one page.

    ClewError
    ├── SettingsError         a settings file cannot be used
    ├── RefusedText           the guard did not let a text through
    │   ├── SecretFound       it holds the value of a secret
    │   ├── InjectionFound    it tries to give orders to the agent
    │   └── ForgottenText     it was forgotten; only the person may bring it back
    ├── NotFound              no memory, candidate or file has that name
    ├── InvalidInput          an argument has a wrong type, size or value
    ├── StoreError            the database did not do what was asked
    │   ├── StoreBusy         another process held the write lock too long
    │   ├── StoreCorrupt      the file is not a database, or is damaged
    │   ├── StoreTooNew       a newer Clew wrote it
    │   └── StoreUnavailable  folder missing, disk full, no permission
    ├── ModelUnavailable      a model that ships cannot be loaded: a file is missing or damaged, or its runtime is
    ├── EmbedderUnavailable   no vectors can be made now; full text still works
    ├── DecisionModelError    the decision model gave no usable answer
    │   └── DecisionModelDown it cannot be reached
    ├── InstallFailed         Pi's agent directory did not let itself be changed
    └── ProtocolError         the peer on the other end of the pipe sent nonsense

Each message says what happened, to which input, and what to do next. Messages never hold the text of a memory
or of a message: they may end up in a log.
"""

from __future__ import annotations


class ClewError(Exception):
    """Base of all errors that Clew raises on purpose.

    Args:
        what: what happened and to which input, as a sentence.
        next_step: what the reader can do about it, as a sentence; empty if nothing is to be done.
    """

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(f"{what} {next_step}".strip())
        self.what = what
        self.next_step = next_step


class SettingsError(ClewError):
    """A settings file cannot be read or holds something unusable."""


class RefusedText(ClewError):
    """The guard did not let a text through to storage."""


class SecretFound(RefusedText):
    """The text holds the value of a secret. `kinds` names the shapes found, never the value."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        super().__init__(
            f"Not saved: the text holds a secret ({', '.join(kinds)}).",
            "Save where the secret is kept instead of its value.",
        )
        self.kinds = kinds


class InjectionFound(RefusedText):
    """The text tries to give orders to the agent that reads it. `kinds` names the patterns found."""

    def __init__(self, kinds: tuple[str, ...]) -> None:
        super().__init__(
            f"Not saved: the text reads like an instruction planted for an agent ({', '.join(kinds)}).",
            "Reword it as a plain statement if you mean it.",
        )
        self.kinds = kinds


class ForgottenText(RefusedText):
    """The text was forgotten before and nothing but the person may bring it back."""

    def __init__(self) -> None:
        super().__init__(
            "Not saved: this memory was forgotten earlier.", "The person can bring it back with /noodle remember."
        )


class NotFound(ClewError):
    """No memory, candidate or file has that name."""


class InvalidInput(ClewError):
    """An argument has a wrong type, size or value."""


class StoreError(ClewError):
    """The database did not do what was asked."""


class StoreBusy(StoreError):
    """Another process held the write lock longer than the deadline."""


class StoreCorrupt(StoreError):
    """The file is not a database, or is damaged."""


class StoreTooNew(StoreError):
    """A newer version of Clew wrote this database."""


class StoreUnavailable(StoreError):
    """Folder missing, disk full, or no permission."""


class ModelUnavailable(ClewError):
    """A model that ships cannot be loaded: a file is missing or damaged, or its runtime cannot be imported."""


class EmbedderUnavailable(ClewError):
    """No vectors can be made now; full-text search still works."""


class DecisionModelError(ClewError):
    """The decision model answered, but not in a way that can be used."""


class DecisionModelDown(DecisionModelError):
    """The decision model cannot be reached."""


class InstallFailed(ClewError):
    """Pi's agent directory did not let itself be changed."""


class ProtocolError(ClewError):
    """The peer on the other end of the pipe sent something outside the protocol."""
