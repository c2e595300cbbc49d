"""Token estimates. Real counts depend on the model; these lean high, so that a budget is kept."""

from __future__ import annotations

import re

# Counted in quarters of a token, after what common tokenizers make of each script: about four characters of ASCII text
# a token, two of any other alphabet (Cyrillic, Greek, Arabic, Hebrew, Devanagari, accented Latin), one of scripts
# without blanks and of emoji.
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_DENSE = re.compile(
    r"[\u0e00-\u109f\u1100-\u139f\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
    r"\U00010000-\U0010ffff]"
)
_QUARTERS = 4
_ELLIPSIS = "…"


def estimate_tokens(text: str) -> int:
    """Estimated number of tokens of a text; 0 for an empty one."""
    return -(-_quarters(text) // _QUARTERS)


def cut_to_tokens(text: str, max_tokens: int) -> str:
    """The head of a text that fits into an estimate of `max_tokens`, with an ellipsis where something is missing."""
    if estimate_tokens(text) <= max_tokens:
        return text
    room = max_tokens * _QUARTERS - _quarters(_ELLIPSIS)
    end = 0
    while room >= 0 and end < len(text):
        room -= _quarters(text[end])
        end += 1
    head = text[: end - 1].rstrip() if end else ""
    return head + _ELLIPSIS if head else ""


def _quarters(text: str) -> int:
    return len(text) + len(_BEYOND_ASCII.findall(text)) + 2 * len(_DENSE.findall(text))
