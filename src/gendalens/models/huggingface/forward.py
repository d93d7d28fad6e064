"""One forward pass over a batch, with the language-model head only at the positions asked about.

A vocabulary of 262,000 tokens costs about 1 MB of logits per position, so the head runs only at the
positions asked about, and rows that several requests share run once.
"""

from __future__ import annotations

import inspect
import threading
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from gendalens.errors import UserError
from gendalens.models.base import Batching
from gendalens.models.huggingface.devices import find_input_device, send, send_pairs
from gendalens.models.huggingface.long_texts import find_length_limit
from gendalens.models.huggingface.padding_trial import PaddingTrial
from gendalens.models.huggingface.prepared import (
    Chosen,
    Prepared,
    Reading,
    Row,
    Site,
    add_sites,
    collect_reading,
)

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

# Planned batches are far smaller; this bounds the memory of a single very long request.
_MAX_TOKENS = 32_768
# The number of logits per log-sum-exp: 4 MB in float32.
_CHUNK = 1024 * 1024


class _Places(NamedTuple):
    """The positions to read in a pass: rows and positions as tensors, and the shape of the input."""

    rows: torch.Tensor
    positions: torch.Tensor
    shape: tuple[int, ...]


class Network:
    """A loaded model whose logits can be read at chosen positions."""

    def __init__(self, model: Any, name: str, pad: int, max_positions: int) -> None:
        self._model = model
        self._name = name
        self._pad = pad
        self._max_positions = max_positions
        self._asked = threading.local()
        self.batching = Batching.ANY_LENGTH
        self._input_device = find_input_device(model)
        self.length_limit = find_length_limit(model.config)
        # Nothing is continued unless asked for, so keys and values need not be kept.
        takes_cache = "use_cache" in inspect.signature(model.forward).parameters
        self._arguments: dict[str, Any] = {"use_cache": False} if takes_cache else {}
        head = model.get_output_embeddings()
        if head is not None:
            head.register_forward_pre_hook(self._pick)

    def try_batches(self, rows: Sequence[Row], window: int | None = None) -> None:
        """Find out which rows can be read together, and keep to it; ``rows`` are tried.

        ``window`` is the most tokens that the model reads.

        Rows read alone, by the model as it is, are compared with rows read as requests are: together,
        with only some positions picked.
        """
        trial = PaddingTrial(self._model, self._try_alone, self._try_together)
        self.batching = trial.choose_batching(rows, self._name)

    def read_alone(self, row: Row) -> torch.Tensor:
        """The logits at every position of a row, by the model as it is."""
        import torch

        with torch.inference_mode():
            ids, mask = self.pad_rows([row])
            logits: torch.Tensor = self._call(ids, mask).logits
            return logits[0, : len(row)]

    def write(self, row: Row, *, most: int, ends: Container[int]) -> tuple[Row, bool]:
        """The likeliest next tokens, one after the other, and whether one of ``ends`` came in time."""
        import torch

        written: list[int] = []
        with torch.inference_mode():
            ids, mask = self.pad_rows([row])
            more: dict[str, Any] = {"use_cache": True} if self._arguments else {}
            while len(written) < most:
                logits, output = self.run(ids, mask, [(0, ids.shape[1] - 1)], **more)
                token = int(logits[0].argmax())
                if token in ends:
                    return tuple(written), True
                written.append(token)
                known = getattr(output, "past_key_values", None) if more else None
                # Architectures that keep their state otherwise read everything again.
                read = (token,) if known is not None else (*row, *written)
                ids, _ = self.pad_rows([read])
                mask = torch.ones((1, len(row) + len(written)), dtype=torch.long, device=ids.device)
                more |= {"past_key_values": known} if known is not None else {}
        return tuple(written), False

    def _try_alone(self, row: Row) -> NDArray[np.float32]:
        return self.read_alone(row)[_pick_ends(row)].float().cpu().numpy()

    def _try_together(self, rows: Sequence[Row]) -> list[NDArray[np.float32]]:
        import torch

        places = [(index, at) for index, row in enumerate(rows) for at in _pick_ends(row)]
        with torch.inference_mode():
            logits = self._logits(rows, places).float().cpu().numpy()
        return [
            logits[[number for number, place in enumerate(places) if place[0] == index]]
            for index in range(len(rows))
        ]

    def read(
        self, batch: Sequence[Prepared], sets: Mapping[str, Sequence[int]] | None = None
    ) -> list[Reading]:
        """The readings of a batch; ``sets`` are the sets of tokens to choose from."""
        wanted: dict[Row, dict[int, Site]] = {row: {} for item in batch for row in item.inputs}
        for item in batch:
            add_sites(item, wanted)
        self.fill(wanted, sets or {})
        return [collect_reading(item, wanted) for item in batch]

    def fill(
        self, wanted: Mapping[Row, Mapping[int, Site]], sets: Mapping[str, Sequence[int]]
    ) -> None:
        """Read the logits at every site."""
        for rows in self._split_passes(wanted):
            self._run_pass({row: wanted[row] for row in rows}, sets)

    def _split_passes(self, wanted: Mapping[Row, Mapping[int, Site]]) -> Iterator[list[Row]]:
        """The rows in as few passes as fit into memory and leave the answers as they are."""
        rows: list[Row] = []
        positions = 0
        for row in sorted(wanted, key=len, reverse=True):
            tokens = (len(rows) + 1) * len((rows or [row])[0])
            positions += len(wanted[row])
            longest = len((rows or [row])[0])
            apart = self.batching is Batching.ONE_ROW or (
                len(row) != longest
                if self.batching is Batching.EQUAL_LENGTH
                else len(row) <= self.length_limit < longest
            )
            full = tokens > _MAX_TOKENS or positions > self._max_positions
            if rows and (full or apart):
                yield rows
                rows, positions = [], len(wanted[row])
            rows.append(row)
        if rows:
            yield rows

    def _run_pass(
        self, wanted: Mapping[Row, Mapping[int, Site]], sets: Mapping[str, Sequence[int]]
    ) -> None:
        """Run the rows through the model and read the logits at their sites."""
        import torch

        with torch.inference_mode():
            places = [(index, at) for index, row in enumerate(wanted) for at in wanted[row]]
            logits = self._logits(list(wanted), places)
            sites = [site for row in wanted for site in wanted[row].values()]
            self.read_logits(sites, logits, sets)

    def read_logits(
        self, sites: Sequence[Site], logits: torch.Tensor, sets: Mapping[str, Sequence[int]]
    ) -> None:
        """Read the sites from their lines of logits.

        Results leave the device together, so that a graphics card need not wait for each part of them.
        """
        import torch

        device = logits.device
        asked = [(index, token) for index, site in enumerate(sites) for token in site.log_probs]
        where = send(torch.tensor(asked, dtype=torch.long).reshape(-1, 2), device)
        tokens_of = {name: send(torch.tensor(tokens), device) for name, tokens in sets.items()}
        totals, values, choices = [], [], []
        step = max(1, _CHUNK // logits.shape[-1])
        for begin in range(0, len(sites), step):
            some = logits[begin : begin + step].float()
            totals.append(torch.logsumexp(some, dim=-1))
            first, last = (bisect_left(asked, (at,)) for at in (begin, begin + step))
            values.append(some[where[first:last, 0] - begin, where[first:last, 1]])
            here = range(begin, begin + len(some))
            for name in sorted({name for index in here for name in sites[index].choices}):
                chosen = [index for index in here if name in sites[index].choices]
                lines = [index - begin for index in chosen]
                scores = some[lines][:, tokens_of[name]] if name else some[lines]
                choices.append((name, chosen, (scores - totals[-1][lines, None]).max(dim=-1)))
        self.store_log_probs(sites, asked, torch.cat(values), torch.cat(totals))
        for name, chosen, (best, tokens) in choices:
            for index, value, token in zip(chosen, best.tolist(), tokens.tolist(), strict=True):
                sites[index].choices[name] = Chosen(sets[name][token] if name else token, value)

    def store_log_probs(
        self,
        sites: Sequence[Site],
        asked: Sequence[tuple[int, int]],
        values: torch.Tensor,
        totals: torch.Tensor,
    ) -> None:
        """Note the log-probabilities of the tokens asked for, as (site, token).

        ``values`` are their logits, ``totals`` the log-sum-exp of each site.
        """
        import torch

        # On the CPU, because Apple's devices have no float64.
        both = torch.cat([values, totals]).cpu().double()
        logits, sums = both[: len(values)], both[len(values) :]
        if not bool(torch.isfinite(sums).all()):
            raise UserError(
                "{name} returns probabilities that are not numbers: its weights are damaged, or"
                " its number format is too small for it; try float32.",
                name=self._name,
            )
        found = logits - sums[[index for index, _ in asked]]
        for (index, token), value in zip(asked, found.tolist(), strict=True):
            sites[index].log_probs[token] = value

    def _logits(self, rows: Sequence[Row], places: Sequence[tuple[int, int]]) -> torch.Tensor:
        """The logits at the places (row, position), one line each."""
        ids, mask = self.pad_rows(rows)
        return self.run(ids, mask, places)[0]

    def pad_rows(self, rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows as one padded tensor, and its attention mask.

        Padding is done here, on the right: some tokenizers pad on the left, and some cannot pad at all.
        """
        import torch

        width = max(map(len, rows))
        padded = [row + (self._pad,) * (width - len(row)) for row in rows]
        lengths = torch.tensor([len(row) for row in rows])
        mask = (torch.arange(width) < lengths[:, None]).long()
        ids = torch.tensor(padded, dtype=torch.long)
        return send(ids, self._input_device), send(mask, self._input_device)

    def run(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        places: Sequence[tuple[int, int]],
        **more: Any,
    ) -> tuple[torch.Tensor, Any]:
        """The logits at the places, and the model's whole output; ``more`` is passed to the model."""
        output, picked = self.call_at(ids, mask, places, **more)
        logits: torch.Tensor = output.logits
        if picked and logits.shape[:2] == (1, len(places)):
            return logits[0], output
        # Some architectures (MobileBERT) compute their logits without calling the output embedding, and
        # Perceiver computes them for every place of its window.
        rows, width = ids.shape
        if not picked and logits.shape[0] == rows and logits.shape[1] >= width:
            index, at = send_pairs(places, logits.device)
            return logits[index, at], output
        raise UserError(
            "{name} ({architecture}) arranges its logits in a way GenDa Lens does not know: please"
            " report it.",
            name=self._name,
            architecture=type(self._model).__name__,
        )

    def call_at(
        self,
        ids: torch.Tensor,
        mask: torch.Tensor,
        places: Sequence[tuple[int, int]],
        **more: Any,
    ) -> tuple[Any, bool]:
        """The model's output, and whether its output layer was given only the places."""
        self._asked.places = _Places(*send_pairs(places, ids.device), ids.shape)
        try:
            output = self._call(ids, mask, **more)
            return output, self._asked.places is None
        finally:
            self._asked.places = None

    def _call(self, ids: torch.Tensor, mask: torch.Tensor, **more: Any) -> Any:
        return self._model(input_ids=ids, attention_mask=mask, **self._arguments | more)

    def _pick(self, _part: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Reduce a module's input to the places that this thread asks about."""
        # The attribute is missing in a thread that has not asked yet.
        places: _Places | None = getattr(self._asked, "places", None)
        if places is None or not args or not _covers(args[0], places.shape):
            return None
        self._asked.places = None
        # The layer may be on another device than the tokens.
        rows, positions = (index.to(args[0].device) for index in (places.rows, places.positions))
        return tuple(
            arg[rows, positions].unsqueeze(0) if _covers(arg, places.shape) else arg for arg in args
        )


def _pick_ends(row: Row) -> list[int]:
    """The positions at which a row is tried: both ends and the middle."""
    return sorted({0, len(row) // 2, len(row) - 1})


def _covers(value: Any, shape: tuple[int, ...]) -> bool:
    """Whether a value has one vector for every position of every row."""
    return getattr(value, "ndim", 0) == 3 and value.shape[:2] == shape
