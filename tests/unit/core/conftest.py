"""Sample secrets, put together from parts, so that no file of the repository holds anything shaped like a live key."""

from __future__ import annotations

import random
import string

import pytest

_ALNUM = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_BASE32 = string.ascii_uppercase + "234567"
_CLASSES = {"a": _ALNUM, "h": _HEX, "u": _BASE32, "d": string.digits, "x": _BASE32 + "01"}


def build(recipe: str) -> str:
    """Parts joined by `+`; a part such as `a36` is 36 characters of a class (a: letters and digits, h: hex, …)."""
    chance = random.Random(recipe)
    return "".join(_part(part, chance) for part in recipe.split("+"))


def _part(part: str, chance: random.Random) -> str:
    if part[:1] in _CLASSES and part[1:].isdecimal():
        length = int(part[1:])
        value = "".join(chance.choice(_CLASSES[part[0]]) for _ in range(length))
        # At least one digit and one letter, whatever chance says.
        return (
            value
            if part[0] == "d" or length < 8
            else value[:2] + "4" + value[3:-2] + ("b" if part[0] == "h" else "Q") + value[-1]
        )
    return part


@pytest.fixture
def secret_of():
    return build
