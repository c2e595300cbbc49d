"""The two pages of the server and what they need: files of the package, and the rules under which a browser runs them.

They load nothing from elsewhere, and the policy sees to it that they could not.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from clew.decide.questionnaire import CONSOLIDATION, GATE, PAIRS, load_questionnaire
from clew.decide.wire import question_as_json

_FOLDER = Path(__file__).with_name("pages")
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


@lru_cache(maxsize=8)
def read_page(name: str) -> bytes:
    """A file of the pages."""
    return (_FOLDER / name).read_bytes()


def bundled_questions() -> dict[str, Any]:
    """The bundled questions by questionnaire, each as a System One request has it."""
    return {
        kind.name: {id_: question_as_json(question) for id_, question in load_questionnaire(None, kind).items()}
        for kind in (GATE, PAIRS, CONSOLIDATION)
    }
