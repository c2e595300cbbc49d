"""Our WordPiece gives the numbers of the package `tokenizers`."""

from __future__ import annotations

import json
import lzma
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from clew.models.manifest import FOLDER
from clew.models.tokenizer import MAX_CHARS, WordPiece

VOCABULARY = lzma.decompress((FOLDER / "vocabulary.txt.xz").read_bytes()).decode().split("\n")[:-1]
CHARACTERS = json.loads((FOLDER / "characters.json").read_text(encoding="utf-8"))
WINDOW = 256

SAMPLES = (
    "The quick brown fox, jumping over 13 lazy dogs!",
    "def f(x: int) -> str:\n    return f'{x!r}'  # naïve\t\r\n",
    "Ünïcödé façade, ångström; İstanbul ΣΊΣΥΦΟΣ ẞtraße ﬁn",
    "我喜欢喝咖啡。 今日は良い天気ですね 한국어 문장입니다 ฉันชอบกินข้าว",
    "Привет, мир! שלום עולם مرحبا بالعالم हिन्दी भाषा বাংলা தமிழ்",
    "👩‍👩‍👧‍👦 🇮🇹 👍🏽 ☕️ a\u200bb\u200dc \ufeff zero\u00adwidth",
    "\x00\x01 control \x0b\x0c\x1c\x85\u2028\u2029\ufffd end",
    "[CLS] [SEP] [MASK] ##ing 'don't' \"x\" $5 ^ ` | ~ + = < > ≠ ≮",
    "e\u0301 \u0301 \u0344 \u1e9b\u0323 \u2126 \u212b \uf900 \U0002f800 \U00010ffff",
    "supercalifragilisticexpialidocious " + "x" * 100 + " " + "y" * 101,
    "https://example.org/a_b-c?d=e&f=%20 C:\\Users\\me snake_case camelCase v1.2.3",
    "",
    "   \n\t ",
)


@pytest.fixture(scope="module")
def ours() -> WordPiece:
    return WordPiece(VOCABULARY, CHARACTERS, max_tokens=WINDOW)


@pytest.fixture(scope="module")
def reference() -> Tokenizer:
    numbers = {piece: number for number, piece in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(name, numbers[name]) for name in ("[CLS]", "[SEP]")]
    )
    tokenizer.enable_truncation(WINDOW)
    return tokenizer


@pytest.mark.parametrize("text", SAMPLES)
def test_samples_of_every_kind_get_the_numbers_of_the_reference(
    ours: WordPiece, reference: Tokenizer, text: str
) -> None:
    assert ours.encode(text) == reference.encode(text).ids


def test_every_code_point_is_treated_as_the_reference_treats_it(ours: WordPiece, reference: Tokenizer) -> None:
    points = [point for point in range(0x30000) if not 0xD800 <= point < 0xE000] + list(range(0xE0000, 0xE0200))
    wrong = []
    for start in range(0, len(points), 20_000):
        texts = [f"a{chr(point)}b {chr(point)}\u0301 " for point in points[start : start + 20_000]]
        encoded = reference.encode_batch(texts)
        wrong += [text for text, one in zip(texts, encoded, strict=True) if ours.encode(text) != one.ids]
    assert not wrong


def test_a_large_mixed_corpus_gets_the_numbers_of_the_reference(ours: WordPiece, reference: Tokenizer) -> None:
    chance = random.Random(20)
    tops = (0x80, 0x250, 0x600, 0xC00, 0x3100, 0xA000, 0x10000, 0x20000, 0x110000)
    texts = []
    for _ in range(3000):
        top = chance.choice(tops)
        points = [chance.randrange(top) for _ in range(chance.randint(1, 60))]
        mixed = [chr(point) for point in points if not 0xD800 <= point < 0xE000]
        mixed += chance.choices(VOCABULARY, k=chance.randint(0, 20)) + [" "] * chance.randint(0, 10)
        chance.shuffle(mixed)
        texts.append("".join(mixed))
    encoded = reference.encode_batch(texts)
    assert [ours.encode(text) for text in texts] == [one.ids for one in encoded]


@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=80))
def test_any_text_gets_the_numbers_of_the_reference(ours: WordPiece, reference: Tokenizer, text: str) -> None:
    assert ours.encode(text) == reference.encode(text).ids


@given(st.lists(st.sampled_from(VOCABULARY), max_size=40), st.sampled_from(["", " ", "\n", "-", "_"]))
def test_any_run_of_known_pieces_gets_the_numbers_of_the_reference(
    ours: WordPiece, reference: Tokenizer, pieces: list[str], joint: str
) -> None:
    text = joint.join(pieces)
    assert ours.encode(text) == reference.encode(text).ids


def test_a_text_beyond_the_window_keeps_its_head(ours: WordPiece, reference: Tokenizer) -> None:
    text = "memory of the parser " * 200
    assert len(ours.encode(text)) == WINDOW
    assert ours.encode(text) == reference.encode(text).ids


def test_control_tokens_typed_in_a_text_stay_plain_characters(ours: WordPiece) -> None:
    assert ours.encode("[SEP]").count(VOCABULARY.index("[SEP]")) == 1


def test_half_a_surrogate_pair_is_dropped(ours: WordPiece) -> None:
    assert ours.encode("a\ud800b") == ours.encode("ab")


def test_only_the_head_of_an_enormous_text_is_looked_at(ours: WordPiece) -> None:
    assert ours.encode("\u200b" * MAX_CHARS + "word") == ours.encode("")
