"""Finds the values of secrets in a text, and takes them out. Values, not words: "the password is in .env" is harmless."""

from clew.core.secrets.scan import Redacted, SecretSpan, find_secrets, redact

__all__ = ["Redacted", "SecretSpan", "find_secrets", "redact"]
