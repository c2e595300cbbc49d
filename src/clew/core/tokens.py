"""Token estimates. Real counts depend on the model; these lean high, so that a budget is kept."""

from __future__ import annotations

import re

# One token for about four Latin characters; scripts without spaces cost about one token a character.
_DENSE = re.compile(
    r"[\u0e00-\u0eff\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]"
)
_CHARS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimated number of tokens of a text; 0 for an empty one."""
    dense = len(_DENSE.findall(text))
    return dense + -(-(len(text) - dense) // _CHARS_PER_TOKEN)
