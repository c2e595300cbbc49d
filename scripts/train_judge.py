"""Train the built-in judge's lexical tier.

    python scripts/train_judge.py DATA.jsonl [DATA.jsonl ...] --out DIR

Writes DIR/weights.npz, DIR/MODEL_CARD.md and DIR/metrics.json. Equal data gives equal weights. The reported numbers
are of held-out topics: folds split by topic and never by row; rows with `"split": "test"` are trained on in no
fold and not in the shipped weights.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from sklearn.model_selection import GroupKFold

from clew.core.decisions import Decision
from clew.decide.lexical.model import Weights
from judge_card import render_card
from judge_data import Row, checksum, find_topics, read_rows
from judge_fit import Recipe, fit_weights
from judge_metrics import decide_all, measure

DEFAULT_FOLDS = 5


def cross_validate(rows: Sequence[Row], topics: Sequence[int], recipe: Recipe, fold_count: int) -> list[Decision]:
    """One decision per row, each by weights that have not seen its topic."""
    held_out: dict[int, Decision] = {}
    folds = GroupKFold(min(fold_count, len(set(topics))))
    for trained, held in folds.split(rows, groups=topics):
        weights = fit_weights([rows[i] for i in trained], [topics[i] for i in trained], recipe)
        held_out |= dict(zip(held.tolist(), decide_all(weights, [rows[i] for i in held]), strict=True))
    return [held_out[index] for index in range(len(rows))]


def save_weights(weights: Weights, path: Path) -> str:
    """Write half-precision weights, byte for byte the same for the same numbers. Returns the file's sha256."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in ("grams", "hand", "bias", "combine"):
            buffer = BytesIO()
            np.save(buffer, getattr(weights, name).astype(np.float16 if name == "grams" else np.float32))
            # a fixed date: np.savez would write the present one, and the checksum would change with it
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", (2000, 1, 1, 0, 0, 0)), buffer.getvalue())
    return hashlib.sha256(path.read_bytes()).hexdigest()


def train(data: Sequence[Path], out: Path, recipe: Recipe, fold_count: int = DEFAULT_FOLDS) -> dict[str, object]:
    """Train, evaluate and write everything into a folder. Returns the metrics."""
    rows = read_rows(data)
    trained = [row for row in rows if not row.is_test]
    test = [row for row in rows if row.is_test]
    if len(trained) < 20:
        raise SystemExit(f"{len(trained)} rows are too few to train on; 20 are the least, 1,000 are better.")
    topics = find_topics(trained)
    metrics: dict[str, object] = {
        "held_out_folds": measure(cross_validate(trained, topics, recipe, fold_count), trained)
    }
    weights = fit_weights(trained, topics, recipe)
    if test:
        metrics["test"] = measure(decide_all(weights, test), test)
    digest = save_weights(weights, out / "weights.npz")
    metrics |= {"weights_sha256": digest, "data_sha256": checksum(data), "rows_trained": len(trained)}
    (out / "metrics.json").write_text(json.dumps(metrics, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (out / "MODEL_CARD.md").write_text(render_card(metrics, trained), encoding="utf-8")
    return metrics


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=DEFAULT_FOLDS, help="folds of the evaluation (default 5)")
    arguments = parser.parse_args()
    metrics = train(arguments.data, arguments.out, Recipe(), arguments.folds)
    print(json.dumps(metrics, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
