"""Fine-tunes the encoder on all of the judge's questions at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from clew.core.records import DatedEntry, EntryPair
from clew.decide.encoder.inputs import CLS, MASK, SEP, Tokens, encode_entry, encode_pair, encode_state
from clew.decide.encoder.network import ENCODER_HEADS, GATE_COLUMNS, PAIR_COLUMNS, RELEVANCE_COLUMN
from clew.decide.evaluation.labelled import LabelledRow
from clew.decide.lexical.model import GATE_HEADS, IMPORTANCE_HEADS, RELEVANCE_HEAD, TARGET_HEADS, YES_NO_HEADS
from clew.decide.lexical.pairs import PAIR_HEADS
from clew.decide.lexical.reading import read_state
from clew.decide.training.examples import Example, draw_view, expect, group_idle
from clew.decide.training.network import PADDING, JudgeNetwork, MiniLm
from clew.models.tokenizer import WordPiece

#: How much the lexical heads think of each sentence of an example: which the encoder gets to read of a long message.
RankSentences = Callable[[Example], Sequence[float]]
Report = Callable[[str], None]
_UNKNOWN = -1.0
#: Batches are as long as a multiple of this: kernels are prepared for each shape, and few shapes are quicker.
_PAD_TO = 16


@dataclass(frozen=True, kw_only=True)
class EncoderRecipe:
    """Settings of the fine-tuning.

    Attributes:
        warm_up: share of the steps in which the learning rate rises.
        masked_share: share of the tokens hidden in training, so that no single word decides.
        importance_weight, target_weight, pair_weight, relevance_weight: shares of the loss against the yes/no questions.
        pair_repeats, relevance_repeats: how often each such row is seen in an epoch; there are far fewer of them.
        seed: of order, views and drop-out.
    """

    epochs: int = 4
    batch: int = 48
    learning_rate: float = 1.5e-4
    weight_decay: float = 0.01
    warm_up: float = 0.1
    masked_share: float = 0.1
    importance_weight: float = 0.35
    target_weight: float = 1.0
    pair_weight: float = 1.0
    relevance_weight: float = 1.0
    pair_repeats: int = 2
    relevance_repeats: int = 2
    seed: int = 0


class _Item(NamedTuple):
    """Input, truth per head (-1 where the row says nothing of it), weight."""

    tokens: Tokens
    truth: NDArray[np.float32]
    weight: float


def fit_encoder(
    base: MiniLm,
    tokenizer: WordPiece,
    rank: RankSentences,
    examples: Sequence[Example],
    others: Sequence[LabelledRow],
    *,
    recipe: EncoderRecipe,
    report: Report,
) -> JudgeNetwork:
    """Fine-tune all layers.

    Args:
        others: pairs and dated entries.
        report: is told of every epoch.
    """
    torch.manual_seed(recipe.seed)
    chance = random.Random(recipe.seed)
    network = JudgeNetwork(base, len(ENCODER_HEADS))
    idle = group_idle(examples)
    fixed = [item for row in others for item in _repeat(tokenizer, row, recipe)]
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(trained, lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True)
    total = recipe.epochs * (-(-(len(examples) + len(fixed)) // recipe.batch))
    step = 0
    for epoch in range(recipe.epochs):
        network.train()
        views = [draw_view(example, idle, chance) for example in examples]
        items = [_Item(encode_example(tokenizer, rank, view), _truth(view), view.weight) for view in views]
        items += fixed
        losses = []
        for places in _batches([item.tokens for item in items], recipe.batch, chance):
            for group in optimiser.param_groups:
                group["lr"] = recipe.learning_rate * min(1, step / (recipe.warm_up * total)) * max(0, 1 - step / total)
            ids, types = _pad([_mask(items[place].tokens, recipe.masked_share, chance) for place in places])
            truth = torch.tensor(np.stack([items[place].truth for place in places]))
            weights = torch.tensor([items[place].weight for place in places])
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = network(ids, types)
            loss = _loss(logits.float(), truth, weights, recipe)
            optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0)
            optimiser.step()
            losses.append(loss.item())
            step += 1
        report(f"encoder: epoch {epoch + 1} of {recipe.epochs}, loss {np.mean(losses):.3f}")
    return network


def encode_example(tokenizer: WordPiece, rank: RankSentences, example: Example) -> Tokens:
    """The encoder's input for an example."""
    state = example.state
    return encode_state(tokenizer, read_state(state), rank(example), state.previous_assistant)


def encode_other(tokenizer: WordPiece, row: LabelledRow) -> Tokens:
    """The encoder's input for a pair or a dated entry."""
    if isinstance(row.judged, EntryPair):
        return encode_pair(tokenizer, row.judged)
    return encode_entry(tokenizer, expect(row, DatedEntry))


def _repeat(tokenizer: WordPiece, row: LabelledRow, recipe: EncoderRecipe) -> list[_Item]:
    """A pair or a dated entry as often as it is seen. Every other time a pair comes the other way round, unless the
    order is what matters."""
    item = _Item(encode_other(tokenizer, row), _truth_of_other(row), 1.0)
    if isinstance(row.judged, DatedEntry):
        return [item] * recipe.relevance_repeats
    pair = expect(row, EntryPair)
    turned = (
        item if row.yes["replaces"] else item._replace(tokens=encode_pair(tokenizer, EntryPair(a=pair.b, b=pair.a)))
    )
    return [item if at % 2 == 0 else turned for at in range(recipe.pair_repeats)]


def _mask(tokens: Tokens, share: float, chance: random.Random) -> Tokens:
    ids = [number if number in (CLS, SEP) or chance.random() >= share else MASK for number in tokens.ids]
    return Tokens(ids, tokens.types)


def _truth(example: Example) -> NDArray[np.float32]:
    truth = np.full(len(ENCODER_HEADS), _UNKNOWN, np.float32)
    truth[list(GATE_COLUMNS)] = [float(example.truth[head]) for head in GATE_HEADS]
    return truth


def _truth_of_other(row: LabelledRow) -> NDArray[np.float32]:
    truth = np.full(len(ENCODER_HEADS), _UNKNOWN, np.float32)
    if isinstance(row.judged, EntryPair):
        truth[list(PAIR_COLUMNS)] = [float(row.yes[head]) for head in PAIR_HEADS]
    else:
        truth[RELEVANCE_COLUMN] = float(row.yes[RELEVANCE_HEAD])
    return truth


def _columns(heads: Sequence[str]) -> list[int]:
    return [ENCODER_HEADS.index(head) for head in heads]


def _loss(logits: Tensor, truth: Tensor, weights: Tensor, recipe: EncoderRecipe) -> Tensor:
    """Weighted mean over the rows, each of which counts for the questions that it answers."""
    known = (truth >= 0).float()
    yes_no = functional.binary_cross_entropy_with_logits(logits, truth.clamp(min=0), reduction="none") * known
    half = len(YES_NO_HEADS) / 2  # the yes/no questions weigh 2.5 together, as in the pilot
    scale = torch.zeros(logits.shape[1])
    scale[_columns(YES_NO_HEADS)] = half / len(YES_NO_HEADS)
    scale[_columns(IMPORTANCE_HEADS)] = recipe.importance_weight
    scale[list(PAIR_COLUMNS)] = recipe.pair_weight
    scale[RELEVANCE_COLUMN] = recipe.relevance_weight
    targets = _columns(TARGET_HEADS)
    chosen = truth[:, targets].clamp(min=0)
    category = (
        functional.cross_entropy(logits[:, targets], chosen, reduction="none") * chosen.sum(1) * recipe.target_weight
    )
    return (((yes_no * scale).sum(1) + category) * weights).sum() / weights.sum()


def _batches(inputs: Sequence[Tokens], size: int, chance: random.Random | None) -> Iterator[list[int]]:
    """Places of rows in batches of like length, so that little is padding; in order if there is no chance."""
    places = list(range(len(inputs)))
    if chance:
        chance.shuffle(places)
    batches: list[list[int]] = []
    for start in range(0, len(places), 8 * size):
        pool = sorted(places[start : start + 8 * size], key=lambda place: len(inputs[place].ids))
        batches += [pool[at : at + size] for at in range(0, len(pool), size)]
    if chance:
        chance.shuffle(batches)
    yield from batches


def _pad(inputs: Sequence[Tokens]) -> tuple[Tensor, Tensor]:
    longest = max(len(tokens.ids) for tokens in inputs)
    longest = -(-longest // _PAD_TO) * _PAD_TO
    ids = torch.full((len(inputs), longest), PADDING)
    types = torch.zeros((len(inputs), longest), dtype=torch.long)
    for place, tokens in enumerate(inputs):
        ids[place, : len(tokens.ids)] = torch.tensor(tokens.ids)
        types[place, : len(tokens.types)] = torch.tensor(tokens.types)
    return ids, types
