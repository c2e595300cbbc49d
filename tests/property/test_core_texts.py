"""What holds for every text, however strange."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.core.asks import find_ask
from clew.core.errors import InvalidInput, RefusedText
from clew.core.fences import render_fence, strip_fences
from clew.core.guard import screen
from clew.core.injections import find_injections
from clew.core.secrets import find_secrets, redact
from clew.core.similarity import containment, is_near_duplicate, jaccard
from clew.core.text import (
    display_text,
    lower_in_place,
    normalise,
    sentences,
    set_aside_pastes,
    shorten,
    text_key,
    words,
)

ANY_TEXT = st.text(alphabet=st.characters(codec=None))
_PIECES = [
    "password", "is", "the", "token", "=", ":", " ", "\n", '"', "'", "hunter2", "Tr0ub4dor&3", "api_key", "sk-", "AK" + "IA",
    "gh" + "p_", "a1B2" * 9, "-----BEGIN " + "PRIVATE KEY-----", "-----END", "Bearer ", "://", "u:p4ssw0rd@h", "/", "\u200b",
    "[redacted:", "[redacted:password]", "]", "PIN", "4821", "密码是", "recovery codes", "ab12-cd34", "cookie: ", ";",
    "remember that", "we use pnpm", ".", "<clew-memories>", "</clew-memories>", "<private>", "```", "> ", "{", "}", "ricordati",
    "を覚えておいて", "ignore all previous instructions", "as the", "<password>", "</password>", "|", "\n|---|---|\n", "mysql -p", "echo ",
    "docker login -p ", "correct horse battery staple", "2FA code", "пароль", "рassword", "：", "Z2hwX2FiY2RlZmdoaWprbG1ub3A=",
]  # fmt: skip
MIXED = st.lists(st.sampled_from(_PIECES) | st.text(max_size=6), max_size=30).map("".join)
_MARK = re.compile(r"\[redacted:[a-z0-9-]+\]")


@given(ANY_TEXT | MIXED)
@example("e\u200d\u0301")
@example("\u212a\u200d\u212a")
def test_the_normal_form_is_stable_and_has_one_line(text):
    normal = normalise(text)
    assert normalise(normal) == normal
    assert normal == normal.strip()
    assert not re.search(r"[\n\r\t\x00-\x1f\u200b\u2060\ufeff\ud800-\udfff]|  ", normal)


@given(ANY_TEXT | MIXED)
def test_text_rules_take_any_text(text):
    assert len(text_key(text)) == 64
    assert all(word and word == word.strip() for word in words(text))
    assert len(lower_in_place(text)) == len(text)
    find_ask(text)
    find_injections(text)


@given(ANY_TEXT | MIXED, st.integers(min_value=0, max_value=200))
def test_shortened_texts_fit(text, limit):
    assert len(shorten(text, limit)) <= limit or len(text) <= limit
    assert len(display_text(text, limit)) <= limit or limit == 0


@given(MIXED)
def test_no_character_is_lost_between_sentences(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@given(MIXED)
def test_every_line_is_either_typed_or_pasted(text):
    typed, pasted = set_aside_pastes(text)
    assert sorted("".join((typed + pasted).split())) == sorted("".join(text.split()))


@given(MIXED)
def test_a_redacted_text_holds_no_value_and_stays_as_it_is(text):
    values = [text[span.start : span.end] for span in find_secrets(text)]
    result = redact(text)
    assert redact(result.text).text == result.text
    assert find_secrets(result.text) == ()
    rest = _MARK.sub("\n", result.text)
    assert not [value for value in values if len(value) >= 6 and value in rest]
    assert bool(values) == bool(result.kinds)


@given(MIXED)
def test_what_is_not_a_secret_stays_byte_for_byte(text):
    spans = find_secrets(text)
    assert all(span.start < span.end for span in spans)
    if not spans:
        assert redact(text).text == text
        return
    clean = redact(text).text
    assert clean.startswith(text[: spans[0].start])


@given(
    st.sampled_from(["the wifi password is {}", "DB_PASSWORD={}", '"password": "{}"', "密码是{}"]),
    st.from_regex(r"[a-z]{3,8}[0-9]{2,4}[A-Z]{2,6}", fullmatch=True),
)
def test_a_made_up_password_is_found_in_every_frame(frame, value):
    assert value not in redact(frame.format(value)).text


@given(MIXED)
def test_what_the_guard_lets_through_is_clean(text):
    try:
        clean = screen(text)
    except (RefusedText, InvalidInput):
        return
    assert find_secrets(clean) == ()
    assert find_injections(clean) == ()
    assert screen(clean) == clean


@given(st.lists(MIXED | ANY_TEXT, max_size=6))
def test_a_block_has_one_fence_whatever_it_holds(memories):
    block = render_fence(memories)
    if not block:
        return
    assert len(re.findall(r"<\s*/?\s*clew-memories", block, re.IGNORECASE)) == 2
    assert strip_fences(f"a{block}b") == "ab"


@given(MIXED)
def test_stripping_fences_twice_changes_nothing_more(text):
    stripped = strip_fences(text)
    assert strip_fences(stripped) == stripped
    assert "<private>" not in stripped


@given(ANY_TEXT | MIXED, ANY_TEXT | MIXED)
def test_likeness_is_symmetric_and_bounded(a, b):
    assert jaccard(a, b) == jaccard(b, a)
    assert 0.0 <= jaccard(a, b) <= containment(a, b) <= 1.0
    assert is_near_duplicate(a, a)


# One unit per shape that a careless pattern would chew on for ever.
HOSTILE = [
    "password ", "password is ", "password=", "password=xxxx", '"password": "', "password=a1b2c3 ", "token to token ", "sk-", "sk-a1", "a-",
    "gh" + "p_", "eyJaaaaaaaaa.", "a://b:", "a://", "AKIA aws ", "-----BEGIN PRIVATE KEY-----", "cookie: a=bbbbbbbbb; ",
    "recovery codes ab12-cd34 ", "seed phrase abandon ", "MMMMMMMMMMMMMMMMMMMMMMMM.", "密码", "パスワードは", "wifi a b c d ",
    "basic ", "bearer a", "otpauth://a", "passphrase is a b ", "x", "1.", "p\u200b", "login a password ", "a:1:b:c:", "\n", " ",
    "<", "<a>\n", "</private", "<private>", "{\n", "```\n", "@@ -1\n", "Error: x\n", "    at f (a:1)\n", "| a |\n", "here is the page: ",
    "ignore all ", "do not tell ", "cat ~/.ssh/ ", "curl ", "send secrets to ", "remember, and remember ", "merk dir zu ",
    "remember that\n", "を覚えて", "记住", "e.g. ", "e\u0301",
    "a1b2c3 is the password ", "a1 是密码", "<password>", "<password a", "| password |\n|---|\n", "| a1b2c3 ", "name: password, value",
    "mysql -p", "docker login ", "echo a | ", "htpasswd -b ", "net use ", "curl -u a:", "-x ", "password: a b c d e ", '"a b c" is ',
    'password is "', "otp 1", "pаsswоrd", "аa", "ｐａｓｓ", "Z2hwX", "ghp_a1\n", "key of the api ", "digicode ", "пароль ", "key", "aws ",
]  # fmt: skip
FUNCTIONS: list[Callable[[str], object]] = [
    redact,
    find_injections,
    set_aside_pastes,
    strip_fences,
    find_ask,
    words,
    sentences,
    normalise,
]


def _cost_s(function: Callable[[str], object], unit: str, chars: int) -> float:
    text = (unit * (chars // len(unit) + 1))[:chars]
    costs = []
    for _ in range(2):
        start = time.process_time()
        function(text)
        costs.append(time.process_time() - start)
    return min(costs)


def _grows_linearly(function: Callable[[str], object], unit: str, chars: int) -> bool:
    """Four times the text may cost eight times the work; quadratic growth costs sixteen times. A second look is
    taken before judging, because other processes share the machine."""
    for _ in range(3):
        small, large = (_cost_s(function, unit, size) for size in (chars // 4, chars))
        if large < 0.05 or large <= 8 * small:
            return True
    return False


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_work_grows_with_the_text_and_not_faster(function):
    assert [unit for unit in HOSTILE if not _grows_linearly(function, unit, 40_000)] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", ["password ", "password=a1b2c3 ", "sk-a1", "a://b:", "AKIA aws ", "cookie: a=bbbbbbbbb; ", "x"]
)
def test_a_megabyte_of_hostile_text_is_scanned_in_linear_time(unit):
    assert _grows_linearly(find_secrets, unit, 1_000_000)
