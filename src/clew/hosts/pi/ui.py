"""What the engine may show and ask, whatever Pi's mode."""

from __future__ import annotations

from typing import Any, Protocol, cast

from clew.core.errors import ProtocolError
from clew.hosts.pi.process import log
from clew.hosts.pi.protocol import (
    HOST_METHODS,
    ConfirmParams,
    EditorParams,
    InputParams,
    Level,
    NotifyParams,
    SelectParams,
    StatusParams,
)
from clew.hosts.pi.rpc import Peer, PeerGone

_METHODS = {method.name: method for method in HOST_METHODS}


class Ui(Protocol):
    """Messages and dialogs. A dialog that cannot be shown, or that the person leaves, answers False or None."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Which of `protocol.HOST_CAPABILITIES` this Pi offers."""
        ...

    def notify(self, message: str, level: Level = "info") -> None:
        """Show a message; never waits. Pi merges notices that follow each other: send one text of several lines."""
        ...

    def set_status(self, text: str | None) -> None:
        """Set Clew's text in the footer, or clear it; never waits."""
        ...

    def confirm(self, title: str, message: str) -> bool:
        """Ask yes or no."""
        ...

    def select(self, title: str, options: list[str]) -> str | None:
        """Let the person choose one of the options."""
        ...

    def input(self, title: str, placeholder: str = "") -> str | None:
        """Ask for one line of text."""
        ...

    def editor(self, title: str, prefill: str) -> str | None:
        """Let the person edit a text of several lines."""
        ...


class PeerUi:
    """Ui carried out by the extension. Dialogs block the calling thread until they are answered."""

    def __init__(self, peer: Peer, capabilities: frozenset[str]) -> None:
        self._peer = peer
        self._capabilities = capabilities

    @property
    def capabilities(self) -> frozenset[str]:
        """See Ui."""
        return self._capabilities

    def notify(self, message: str, level: Level = "info") -> None:
        """See Ui."""
        self._peer.notify(_METHODS["ui.notify"], NotifyParams(message=message, level=level))

    def set_status(self, text: str | None) -> None:
        """See Ui."""
        if "status" in self._capabilities:
            self._peer.notify(_METHODS["ui.status"], StatusParams(text=text))

    def confirm(self, title: str, message: str) -> bool:
        """See Ui."""
        answer = self._ask("confirm", ConfirmParams(title=title, message=message))
        return answer is not None and bool(answer.confirmed)

    def select(self, title: str, options: list[str]) -> str | None:
        """See Ui."""
        return self._ask_text("select", SelectParams(title=title, options=options))

    def input(self, title: str, placeholder: str = "") -> str | None:
        """See Ui."""
        return self._ask_text("input", InputParams(title=title, placeholder=placeholder))

    def editor(self, title: str, prefill: str) -> str | None:
        """See Ui."""
        return self._ask_text("editor", EditorParams(title=title, prefill=prefill))

    def _ask_text(self, kind: str, params: object) -> str | None:
        answer = self._ask(kind, params)
        return None if answer is None else cast("str | None", answer.value)

    def _ask(self, kind: str, params: object) -> Any:
        if kind not in self._capabilities:
            return None
        try:
            return self._peer.call(_METHODS[f"ui.{kind}"], params)
        except PeerGone:
            return None  # the session ends: as if the person had left the dialog
        except ProtocolError as error:
            log(f"ui.{kind}: {error}")
            return None
