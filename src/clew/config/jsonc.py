"""JSON as people write it in settings files: `//` and `/* */` comments and trailing commas are allowed."""

from __future__ import annotations

import json
import re
from typing import Any

_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*")|,(?=\s*[}\]])')


def parse_jsonc(text: str) -> Any:
    """Parse JSON with comments and trailing commas. Raises ValueError with line and column, as `json` does."""
    without_comments = _TOKEN.sub(_blank_comment, text.removeprefix("\ufeff"))
    plain = _TRAILING_COMMA.sub(lambda match: match.group(1) or " ", without_comments)
    return json.loads(plain, parse_constant=_refuse_constant)


def _blank_comment(match: re.Match[str]) -> str:
    token = match.group()
    # Comments turn into blanks of the same shape, so that an error's line and column still point at the file.
    return token if token.startswith('"') else re.sub(r"[^\n]", " ", token)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON knows")
