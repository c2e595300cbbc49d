"""Made-up values for the placeholders of labelled rows, so that no real-looking secret stands in a file."""

from __future__ import annotations

import random
import re
import string

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_ALNUM = string.ascii_letters + string.digits
#: Made-up values for the placeholders of the data: prefix, alphabet, length.
_SHAPES = {
    "ghp": ("ghp_", _ALNUM, 36), "glpat": ("glpat-", _ALNUM, 20), "stripe_live": ("sk_live_", _ALNUM, 24),
    "openai": ("sk-proj-", _ALNUM, 48), "anthropic": ("sk-ant-api03-", _ALNUM, 80), "npm": ("npm_", _ALNUM, 36),
    "aws_akid": ("AKIA", string.ascii_uppercase + "234567", 16), "aws_secret": ("", _ALNUM + "/+", 40),
    "gcp_api": ("AIza", _ALNUM, 35), "slack_bot": ("xoxb-", string.digits, 24), "hf": ("hf_", _ALNUM, 34),
    "sendgrid": ("SG.", _ALNUM, 60), "dop": ("dop_v1_", "0123456789abcdef", 64), "vault": ("hvs.", _ALNUM, 28),
    "pypi": ("pypi-", _ALNUM, 60), "shpat": ("shpat_", "0123456789abcdef", 32), "lin": ("lin_api_", _ALNUM, 40),
    "telegram": ("7123456789:AA", _ALNUM, 33), "discord": ("MTA", _ALNUM, 60), "azure_key": ("", _ALNUM, 86),
    "slack_hook": ("https://hooks.slack.com/services/T00/B00/", _ALNUM, 24), "sas_sig": ("", _ALNUM, 44),
    "jwt": ("eyJhbGciOiJIUzI1NiJ9.eyJ", _ALNUM, 60), "basic": ("", _ALNUM, 28), "b62_32": ("", _ALNUM, 32),
    "b62_40": ("", _ALNUM, 40), "b32_32": ("", string.ascii_uppercase + "234567", 32),
    "hex40": ("", "0123456789abcdef", 40), "hex64": ("", "0123456789abcdef", 64), "b64_64": ("", _ALNUM + "/+", 64),
}  # fmt: skip
_WORDS = ("Maple", "Otter", "Copper", "Breeze", "Lagoon", "Thistle", "Ember", "Granite", "Pepper", "Falcon")


def seeded(source: str, id_: str) -> random.Random:
    """The chance that fills one row: the same row gets the same values every time."""
    return random.Random(f"{source} {id_}")  # noqa: S311 - made-up values, no keys


def fill_placeholders(text: str, chance: random.Random) -> str:
    """`{{ghp}}` and the like become made-up values of that shape, so that no real-looking secret stands in a file."""
    return _PLACEHOLDER.sub(lambda match: _make_value(match.group(1), chance), text)


def _make_value(kind: str, chance: random.Random) -> str:
    if kind == "pw":
        return chance.choice(_WORDS) + chance.choice("-_#!+") + chance.choice(_WORDS) + str(chance.randrange(10, 99))
    if kind.startswith("pem"):
        lines = "\n".join("".join(chance.choices(_ALNUM + "/+", k=64)) for _ in range(4))
        name = "OPENSSH PRIVATE KEY" if "openssh" in kind else "RSA PRIVATE KEY"
        return f"-----BEGIN {name}-----\n{lines}\n-----END {name}-----"
    prefix, alphabet, length = _SHAPES.get(kind, ("", _ALNUM, 32))
    return prefix + "".join(chance.choices(alphabet, k=length))
