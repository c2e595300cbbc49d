"""Typed questions about a state: questionnaires, System One client, built-in judge."""
