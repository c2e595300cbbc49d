"""The model card, made from what was measured, so that its figures are always those of the files beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from clew.decide.evaluation.labelled import LabelledRow, RowsKind
from clew.decide.training.train import Split

_HEAD = """# Model card: clew-judge

Written by `clew judge train`; do not edit by hand. Licence: MIT, as Clew itself; the encoder's base, all-MiniLM-L6-v2,
is Apache-2.0.

**What it is.** Clew's built-in judge, in two tiers that answer the same questions on a CPU:

- `lexical`: logistic regressions over hashed character 1-5-grams and hand-made features (word lists in English, Italian,
  Spanish, French, German, Portuguese, Chinese and Japanese; sentence shape; signs of secrets). No model runtime.
- `encoder`: all-MiniLM-L6-v2, all six layers fine-tuned on all questions at once, int8, its word table shared with
  the embedder; its logits are joined to the lexical ones.

It answers the six questions of `gate-questions.json` about a message and its reply, the three of
`consolidate-pair-questions.json` about two memories, and the one of `consolidate-questions.json` about one memory.

**How it reads.** Only what the person typed counts for durability; pasted logs, code and quotations are set aside and
seen by the secret question alone. Lexical answers rest on the whole message and on its best sentence. The encoder reads
at most 128 tokens of the message (of a longer one, the sentences that the lexical tier finds foremost) and 28 of the reply.
`target` is `none` exactly if the head for "worth saving" says no. The scanner in `core.secrets` overrules the head for
`has_secret`.
"""

_WEAKNESSES = """## Known weaknesses of the judge that ships

- The word lists were improved by reading errors on the authored rows, so figures on those lean high.
- One kind of writer wrote the rows and one guide labelled them; people may see worth elsewhere. `clew judge learn`
  adapts to one person's answers.
- The encoder knows English best. Other languages rest on the lexical tier for most of their quality; those beyond the
  eight are judged by n-grams and shape alone.
- In real conversations only a few messages in a hundred are worth saving, far fewer than in the data; the precision at
  that share is given above and is much lower than on the rows themselves.
- Temporary orders in Chinese are often taken for plain idle ones: not proposed, but not vetoed as temporary either.
- Importance 4 is rare in training; the expected level is drawn towards 1 to 3.
- The wording of a questionnaire is ignored, and for questions other than the ten it abstains.
"""


def render_card(
    splits: Mapping[RowsKind, Split],
    data_sha256: Mapping[str, str],
    measured: Mapping[str, str],
    files_sha256: Mapping[str, str],
) -> str:
    """The card as Markdown.

    Args:
        data_sha256, files_sha256: name → sha256 of the data and of what was written.
        measured: name of a tier → the evaluation on held rows, as text.
    """
    parts = [_HEAD, _render_data(splits, data_sha256), _render_measured(measured), _WEAKNESSES]
    parts.append(
        "## Identity\n\n" + "\n".join(f"- `{name}` sha256 `{sha}`" for name, sha in files_sha256.items()) + "\n"
    )
    return "\n".join(parts)


def _render_data(splits: Mapping[RowsKind, Split], data_sha256: Mapping[str, str]) -> str:
    counts = "\n".join(
        f"- {kind}: {len(split.trained)} trained on, {len(split.held)} held ({_languages(split)})"
        for kind, split in splits.items()
    )
    files = "\n".join(f"- `{name}` sha256 `{digest}`" for name, digest in sorted(data_sha256.items()))
    return (
        f"## Data\n\n{counts}\n\n{files}\n\n"
        "Files of the project lie in `data/judge/`, whose README says how they were written and read a second time;\n"
        "`gate_train_seed.jsonl`, short authored states labelled by the same guide, is not part of it. Values of secrets are\n"
        "made up. Variants without reply, with redacted secret and amid other messages are derived during training.\n"
    )


def _languages(split: Split) -> str:
    rows: Sequence[LabelledRow] = [*split.trained, *split.held]
    return ", ".join(f"{lang} {count}" for lang, count in Counter(row.lang for row in rows).most_common())


def _render_measured(measured: Mapping[str, str]) -> str:
    explained = (
        "## Measured on held topics\n\n"
        "No head has seen these topics. How the views are combined was fitted on one half of them and measured on the\n"
        "other, both ways; the shipped combination is fitted on all of them.\n"
    )
    parts = [explained]
    parts += [f"### Tier {tier}\n\n```\n{text}\n```\n" for tier, text in measured.items()]
    return "\n".join(parts)
