from __future__ import annotations

import pytest

from clew.core.text import words
from clew.memory.evidence import count_shared, other_words, shares_only_everyday_words


@pytest.mark.parametrize(
    ("prompt", "text", "is_only_everyday"),
    [
        ("use this file", "Every file is formatted", True),
        ("continue with step 3", "Python 3 is used", True),
        ("create the worker", "workers live here", False),
        ("npm please", "never npm", False),
        ("write the migration file", "migrations live in a file", False),
        ("change the class name in this file", "Class names stand in the file header", False),
        ("read the sky", "The broker is RabbitMQ", False),
    ],
)
def test_everyday_words_alone_tell_nothing(prompt, text, is_only_everyday):
    assert shares_only_everyday_words(words(prompt), text) is is_only_everyday


def test_inflections_count_as_the_same_word_and_look_alikes_do_not():
    assert count_shared(["worker"], "the workers") == 1
    assert count_shared(["deploy"], "we deployed it") == 1
    assert count_shared(["port"], "the portfolio") == 0
    assert count_shared(["node"], "no nodding") == 0


def test_other_words_for_the_same_thing_come_once_and_never_repeat_the_prompt():
    assert other_words(["deploy", "deployment"]) == ()
    assert other_words(["dependency", "npm", "dependencies"]).count("pnpm") == 1
    assert "npm" not in other_words(["dependency", "npm"])
