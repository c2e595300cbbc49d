"""The training of the built-in judge from labelled rows to the files that ship."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.core.records import DatedEntry, EntryPair, State
from clew.decide.encoder import joining
from clew.decide.evaluation.labelled import LabelledFile, LabelledRow, RowsKind, select_rows
from clew.decide.lexical.features import extract_features
from clew.decide.lexical.model import (
    GATE_HEADS,
    PAIRS_ARRAY,
    Weights,
    combination_inputs,
    rank_sentences,
    relevance_inputs,
)
from clew.decide.lexical.pairs import extract_pair_features
from clew.decide.lexical.reading import read_state
from clew.decide.training import combination
from clew.decide.training.combination import CombinationRecipe
from clew.decide.training.encode import EncodeHeld, TrainEncoder
from clew.decide.training.examples import Example, as_example, expect, split_held
from clew.decide.training.lexical_fit import LexicalRecipe, LexicalTables, entry_state, features_of, fit_lexical
from clew.decide.training.pair_fit import TreeRecipe, fit_pair_trees, lexical_matrix
from clew.decide.trees import TreeEnsemble

Floats = NDArray[np.float32]
Report = Callable[[str], None]
WEIGHTS_NAME = "weights.npz"
#: Fewer rows of a kind than this cannot be split, let alone be learned from.
LEAST_ROWS: Mapping[RowsKind, int] = {"states": 40, "pairs": 40, "relevance": 20}


@dataclass(frozen=True, kw_only=True)
class Split:
    """Rows to learn from, and rows of other topics to combine and to measure on."""

    trained: Sequence[LabelledRow]
    held: Sequence[LabelledRow]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All settings of a training but the encoder's."""

    lexical: LexicalRecipe = field(default_factory=LexicalRecipe)
    trees: TreeRecipe = field(default_factory=TreeRecipe)
    combination: CombinationRecipe = field(default_factory=CombinationRecipe)


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What a training leaves.

    Attributes:
        weights_path: the judge's weights, its combination fitted on all held rows.
        halves: for honest figures, pairs of a weights file and the held rows (by kind) that its combination has not
            seen.
    """

    weights_path: Path
    splits: Mapping[RowsKind, Split]
    halves: Sequence[tuple[Path, Mapping[RowsKind, Sequence[LabelledRow]]]]


@dataclass(frozen=True, kw_only=True)
class _Views:
    """Held rows as the combination sees them: per row the lexical inputs, and those with the encoder's logits."""

    rows: Sequence[LabelledRow]
    truth: Sequence[Mapping[str, bool]]
    lexical: Floats
    joined: Floats | None


def split_files(files: Sequence[LabelledFile]) -> dict[RowsKind, Split]:
    """Rows of each kind, parted by topic.

    Raises:
        InvalidInput: too few rows of a kind.
    """
    found: dict[RowsKind, Split] = {}
    for kind, least in LEAST_ROWS.items():
        rows = select_rows(files, kind)
        if len(rows) < least:
            from clew.core.errors import InvalidInput

            raise InvalidInput(f"{len(rows)} rows of {kind} are too few to train on; {least} are the least.")
        trained, held = split_held(rows, _text_of)
        found[kind] = Split(trained=[rows[at] for at in trained], held=[rows[at] for at in held])
    return found


def _text_of(row: LabelledRow) -> str:
    return " ".join(text for text in row.judged.as_json().values() if text)


def train(
    files: Sequence[LabelledFile], out: Path, recipe: Recipe, train_encoder: TrainEncoder | None, report: Report
) -> Trained:
    """Train everything and write it into a folder. Equal rows and recipe give equal files on one kind of machine.

    Args:
        train_encoder: makes the encoder and says how to run it; None trains the lexical tier alone.
        report: is told what is being done.
    """
    splits = split_files(files)
    out.mkdir(parents=True, exist_ok=True)
    examples = [as_example(row) for row in splits["states"].trained]
    report(f"lexical heads: fitting on {len(examples)} states")
    tables = fit_lexical(examples, splits["relevance"].trained, recipe.lexical)
    lexical = _as_weights(tables)
    pair_features = lexical_matrix(splits["pairs"].trained)
    trees = {PAIRS_ARRAY: fit_pair_trees(pair_features, splits["pairs"].trained, recipe.trees)}
    encode = None
    if train_encoder:
        others = [*splits["pairs"].trained, *splits["relevance"].trained]
        encode = train_encoder(examples, others, _ranks_by_unseen_heads(splits, examples, recipe, report), report)
        aligned = np.stack([encode.align(expect(row, EntryPair)) for row in splits["pairs"].trained])
        trees[joining.PAIR_TREES] = fit_pair_trees(
            np.hstack([pair_features, aligned]), splits["pairs"].trained, recipe.trees
        )
    report("combining on the held topics")
    views: dict[RowsKind, _Views] = {
        "states": _view_states(splits["states"].held, lexical, encode),
        "pairs": _view_pairs(splits["pairs"].held, trees, encode),
        "relevance": _view_entries(splits["relevance"].held, lexical, encode),
    }
    path = out / WEIGHTS_NAME
    save_weights(path, tables, trees, _combine(views, recipe.combination))
    halves = []
    for half in (0, 1):
        fitted = {kind: _select(view, half) for kind, view in views.items()}
        seen_not = {kind: _select(view, 1 - half).rows for kind, view in views.items()}
        half_path = out / f"half-{half}.npz"
        save_weights(half_path, tables, trees, _combine(fitted, recipe.combination))
        halves.append((half_path, seen_not))
    return Trained(weights_path=path, splits=splits, halves=halves)


def _as_weights(tables: LexicalTables) -> Weights:
    """The heads without anything that combines them."""
    none = np.zeros(0, np.float32)
    no_trees = TreeEnsemble(feature=np.zeros((0, 0, 0), np.uint8), threshold=none, value=none, start=none)
    return Weights(
        grams=tables.grams,
        hand=tables.hand,
        bias=tables.bias,
        pairs=no_trees,
        combine=np.zeros((len(GATE_HEADS), 4), np.float32),
        combine_pairs=none,
        combine_relevance=none,
        fingerprint="",
    )


def _ranks_by_unseen_heads(
    splits: Mapping[RowsKind, Split], examples: Sequence[Example], recipe: Recipe, report: Report
) -> Callable[[Example], Sequence[float]]:
    """How much each sentence of a state matters, by heads that have not seen the state.

    Heads that have would point at the right sentence too well, and the encoder would learn to rely on that.
    """
    halves = [[one for one in examples if _half_of(one.row.topic) == half] for half in (0, 1)]
    report("lexical heads: fitting on each half, to choose sentences of the other")
    heads = [_as_weights(fit_lexical(half, splits["relevance"].trained, recipe.lexical)) for half in halves]
    remembered: dict[State, Sequence[float]] = {}

    def rank(example: Example) -> Sequence[float]:
        state = example.state
        if state not in remembered:
            unseen = heads[1 - _half_of(example.row.topic)]
            scored = unseen.score(extract_features(read_state(state)))
            remembered[state] = rank_sentences(scored.by_sentence).tolist()
        return remembered[state]

    return rank


def _view_states(rows: Sequence[LabelledRow], lexical: Weights, encode: EncodeHeld | None) -> _Views:
    examples = [as_example(row) for row in rows]
    alone, joined = [], []
    for example in examples:
        features = features_of(example.state)
        scored = lexical.score(features)
        alone.append(combination_inputs(scored.whole, scored.by_sentence))
        if encode:
            logits = encode.state(example.state, rank_sentences(scored.by_sentence).tolist())
            joined.append(joining.gate_inputs(scored.whole, scored.by_sentence, logits, features.language))
    return _Views(
        rows=rows,
        truth=[example.truth for example in examples],
        lexical=np.stack(alone),
        joined=np.stack(joined) if joined else None,
    )


def _view_pairs(rows: Sequence[LabelledRow], trees: Mapping[str, TreeEnsemble], encode: EncodeHeld | None) -> _Views:
    alone, joined = [], []
    for row in rows:
        pair = expect(row, EntryPair)
        features = extract_pair_features(pair)
        alone.append(np.append(trees[PAIRS_ARRAY].score(features), np.float32(1)))
        if encode:
            scores = trees[joining.PAIR_TREES].score(np.concatenate([features, encode.align(pair)]))
            joined.append(joining.pair_inputs(scores, encode.pair(pair)))
    return _others(rows, alone, joined)


def _view_entries(rows: Sequence[LabelledRow], lexical: Weights, encode: EncodeHeld | None) -> _Views:
    alone, joined = [], []
    for row in rows:
        whole = lexical.score(features_of(entry_state(row))).whole
        alone.append(np.append(relevance_inputs(whole), np.float32(1)))
        if encode:
            joined.append(joining.entry_inputs(whole, encode.entry(expect(row, DatedEntry))))
    return _others(rows, alone, joined)


def _others(rows: Sequence[LabelledRow], alone: list[Floats], joined: list[Floats]) -> _Views:
    return _Views(
        rows=rows,
        truth=[row.yes for row in rows],
        lexical=np.stack(alone),
        joined=np.stack(joined) if joined else None,
    )


def _combine(views: Mapping[RowsKind, _Views], recipe: CombinationRecipe) -> dict[str, Floats]:
    """The arrays that combine and join, by their name in the weights file."""
    states, pairs, entries = views["states"], views["pairs"], views["relevance"]
    found = {
        "combine": combination.fit_gate(states.lexical, states.truth, recipe),
        "combine_pairs": combination.fit_pairs(pairs.lexical, pairs.truth, recipe),
        "combine_relevance": combination.fit_relevance(entries.lexical, entries.truth, recipe),
    }
    if states.joined is not None and pairs.joined is not None and entries.joined is not None:
        found |= {
            joining.GATE: combination.fit_gate(states.joined, states.truth, recipe),
            joining.PAIRS: combination.fit_pairs(pairs.joined, pairs.truth, recipe),
            joining.RELEVANCE: combination.fit_relevance(entries.joined, entries.truth, recipe),
        }
    return found


def _select(view: _Views, half: int) -> _Views:
    places = [at for at, row in enumerate(view.rows) if _half_of(row.topic) == half]
    return _Views(
        rows=[view.rows[at] for at in places],
        truth=[view.truth[at] for at in places],
        lexical=view.lexical[places],
        joined=None if view.joined is None else view.joined[places],
    )


def _half_of(topic: str) -> int:
    return hashlib.sha256(topic.encode()).digest()[0] & 1


def save_weights(
    path: Path, tables: LexicalTables, trees: Mapping[str, TreeEnsemble], combined: Mapping[str, Floats]
) -> str:
    """Write the weights, byte for byte the same for the same numbers. Returns the file's sha256."""
    arrays: dict[str, NDArray[Any]] = {
        "grams": tables.grams.astype(np.float16),
        "hand": tables.hand,
        "bias": tables.bias,
        **combined,
    }
    for name, ensemble in trees.items():
        arrays |= ensemble.as_arrays(name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            buffer = BytesIO()
            np.save(buffer, array)
            # a fixed date: np.savez would write the present one, and the checksum would change with it
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (2000, 1, 1, 0, 0, 0)), buffer.getvalue())
    return hashlib.sha256(path.read_bytes()).hexdigest()
