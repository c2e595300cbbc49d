"""The scanner finds values of secrets, not words about them, and redacts nothing else."""

from __future__ import annotations

import base64
from itertools import pairwise

import pytest
from secret_samples import CONTEXTS, HARMLESS, SHAPES
from told_secret_samples import HARMLESS_BESIDE, TOLD

from clew.core.secrets import find_secrets, redact


def _marked(text: str) -> tuple[str, str]:
    """The text without its marks, and the value between them."""
    value = text.partition("«")[2].partition("»")[0]
    return text.replace("«", "").replace("»", ""), value


@pytest.mark.parametrize(
    ("kind", "recipe", "value"), SHAPES, ids=[f"{kind}-{n}" for n, (kind, _, _) in enumerate(SHAPES)]
)
@pytest.mark.parametrize("frame", ["{}", "use {} for the deploy", "x='{}'", "line one\n{}\nline three", "({}), please"])
def test_a_credential_is_found_by_its_shape(secret_of, kind, recipe, value, frame):
    sample = secret_of(recipe)
    text = frame.format(sample)
    if kind == "pgpass-password" and frame != "{}":
        return
    assert kind in {span.kind for span in find_secrets(text)}
    clean = redact(text).text
    assert sample not in clean
    assert f"[redacted:{kind}]" in clean


def test_there_are_at_least_45_kinds_of_shape():
    assert len({kind for kind, _, _ in SHAPES}) >= 45


@pytest.mark.parametrize(("kind", "marked"), [*CONTEXTS, *(sample for shape in TOLD.values() for sample in shape)])
def test_a_value_told_or_assigned_is_found_and_nothing_around_it_is_touched(kind, marked):
    text, value = _marked(marked)
    result = redact(text)
    assert result.text == marked.replace(f"«{value}»", f"[redacted:{kind}]")
    assert result.kinds == (kind,)


@pytest.mark.parametrize("text", [*HARMLESS, *(text for shape in HARMLESS_BESIDE.values() for text in shape)])
def test_words_about_secrets_are_harmless(text):
    assert find_secrets(text) == ()
    assert redact(text).text == text


@pytest.mark.parametrize("label", ["RSA ", "OPENSSH ", "EC ", "ENCRYPTED ", "", "PGP "])
def test_a_private_key_block_loses_its_body_even_when_it_never_ends(label):
    block = " BLOCK" if label == "PGP " else ""
    head = "-----BEGIN " + label + "PRIVATE" + " KEY" + block + "-----"
    body = "\nMIIEpAIBAAKCAQEA7\nabc123+/xyz==\n"
    tail = "-----END " + label + "PRIVATE" + " KEY" + block + "-----"
    assert redact(f"key:\n{head}{body}{tail}\nthanks").text == f"key:\n{head}[redacted:private-key]{tail}\nthanks"
    assert "abc123" not in redact(head + body).text


def test_a_lasting_fact_beside_the_secret_stays():
    text = "We deploy from main on Tuesdays. The deploy password is hunter2. Rollbacks need two approvals."
    assert redact(text).text == text.replace("hunter2", "[redacted:password]")


def test_a_found_value_is_taken_out_wherever_it_stands():
    assert "hunter22" not in redact("the password is hunter22. I typed hunter22 twice, also xhunter22x").text


def test_invisible_characters_do_not_hide_a_value(secret_of):
    token = secret_of("gh+p_+a36")
    for hidden in ("\u200b", "\u2060", "\ufeff", "\u00ad", "\U000e0041"):
        text = f"use {hidden.join([token[:3], token[3:9], token[9:]])} now"
        assert redact(text).text == "use [redacted:github-token] now"


def test_spans_are_ordered_and_do_not_overlap(secret_of):
    text = f"token={secret_of('gh+p_+a36')} password=hunter2 and {secret_of('AK+IA+x16')}"
    spans = find_secrets(text)
    assert len(spans) == 3
    assert all(first.end <= second.start for first, second in pairwise(spans))


def test_every_recovery_code_of_a_list_is_found():
    text = "Recovery codes:\n1. ab12-cd34\n2. ef56-gh78\n3. ij90-kl12\n\nThe build is green."
    clean = redact(text).text
    assert clean.count("[redacted:recovery-code]") == 3
    assert clean.endswith("The build is green.")


def test_a_redaction_mark_is_not_redacted_again():
    once = redact("password=hunter2 and token: abcd1234efgh5678").text
    assert redact(once).text == once
    assert find_secrets(once) == ()


def test_a_token_that_a_line_break_cuts_is_found_to_its_end(secret_of):
    token = secret_of("gh+p_+a36")
    head, tail = token[:26], token[26:] + "7a"
    assert redact(f"use {head}\n{tail}\nfor it").text == "use [redacted:github-token]\nfor it"
    assert redact(f"use {token}\nfor 3 weeks").text == "use [redacted:github-token]\nfor 3 weeks"
    assert redact(f"use {token}\nversion-2024 is out").text.endswith("\nversion-2024 is out")


@pytest.mark.parametrize("recipe", ["gh+p_+a36", "glp+at-+a20", "sk-+ant-api03-+a80", "sk_+live_+a24"])
def test_a_vendors_token_is_found_in_base64_too(secret_of, recipe):
    encoded = base64.b64encode(secret_of(recipe).encode()).decode()
    assert redact(f"value: {encoded} ok").text == "value: [redacted:encoded-token] ok"


def test_base64_of_anything_else_stays():
    text = "logo " + base64.b64encode(b"-----BEGIN CERTIFICATE----- and a picture, 12345").decode()
    assert find_secrets(text) == ()
