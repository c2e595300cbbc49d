"""WordPiece, the tokenizer of BERT-like models: text to the numbers of a vocabulary.

Gives the same numbers as the package `tokenizers` for any text (a test compares them), with two differences on purpose:
`[SEP]` and its like typed in a text are plain characters here, never control tokens, and only the first MAX_CHARS
characters are looked at.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Mapping, Sequence

#: A text is cut here before anything else, so that a pasted log costs no more than a long message.
MAX_CHARS = 20_000
_MAX_WORD_CHARS = 100
_MAX_CACHED_WORDS = 20_000
_CONTINUATION = "##"

Ranges = Sequence[Sequence[int]]


class _CharacterTable(dict[int, str | None]):
    """Table for `str.translate`, filled as characters turn up: what each one becomes."""

    def __init__(self, classes: Mapping[str, Ranges]) -> None:
        super().__init__()
        spans = sorted((first, last, name) for name, pairs in classes.items() for first, last in pairs)
        self._firsts = [span[0] for span in spans]
        self._spans = spans

    def _class_of(self, point: int) -> str:
        at = bisect_right(self._firsts, point) - 1
        if at < 0 or point > self._spans[at][1]:
            return ""
        return self._spans[at][2]

    def __missing__(self, point: int) -> str | None:
        character = chr(point)
        kind = self._class_of(point)
        became: str | None = character.lower()
        if kind in {"dropped", "mark"} or unicodedata.category(character) == "Cs":
            became = None
        elif kind == "blank":
            became = " "
        elif kind == "alone":
            became = f" {character} "
        self[point] = became
        return became


class WordPiece:
    """Splits a text into words, and words into the longest pieces that the vocabulary has.

    Args:
        vocabulary: pieces in the order of their numbers; must hold [CLS], [SEP] and [UNK].
        characters: code point ranges by class (`dropped`, `blank`, `alone`, `mark`), inclusive.
        max_tokens: length of the window, [CLS] and [SEP] included; what lies beyond is left out.
    """

    def __init__(self, vocabulary: Sequence[str], characters: Mapping[str, Ranges], *, max_tokens: int) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._table = _CharacterTable(characters)
        self._max_tokens = max_tokens
        self._cls, self._sep, self._unknown = (self._numbers[name] for name in ("[CLS]", "[SEP]", "[UNK]"))
        self._cache: dict[str, list[int]] = {}

    def encode(self, text: str) -> list[int]:
        """Token numbers of a text, [CLS] first and [SEP] last; at most `max_tokens` of them."""
        numbers = [self._cls]
        for word in self.words(text[:MAX_CHARS]):
            if len(numbers) >= self._max_tokens:
                break
            numbers += self._pieces(word)
        del numbers[self._max_tokens - 1 :]
        numbers.append(self._sep)
        return numbers

    def words(self, text: str) -> list[str]:
        """Lower-cased words without accents; each punctuation mark and each Chinese character is a word."""
        plain = text.translate(self._table)
        if not plain.isascii():
            # Decomposing may bring out marks and punctuation, so that the table has to be applied once more.
            plain = unicodedata.normalize("NFD", plain).translate(self._table)
        return plain.split()

    def _pieces(self, word: str) -> list[int]:
        known = self._cache.get(word)
        if known is None:
            known = self._split(word) if len(word) <= _MAX_WORD_CHARS else [self._unknown]
            if len(self._cache) >= _MAX_CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = known
        return known

    def _split(self, word: str) -> list[int]:
        numbers: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                number = self._numbers.get(prefix + word[start:end])
                if number is not None:
                    break
            else:
                return [self._unknown]
            numbers.append(number)
            start, prefix = end, _CONTINUATION
        return numbers
