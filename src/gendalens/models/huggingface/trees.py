"""Rows of a causal model read as trees: no beginning that rows share is read twice.

The nodes of a tree are one row of the forward pass. Each attends to its ancestors alone, and its position
is its depth, so it gets the numbers that it would get in any of its texts.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from gendalens.models.base import Batching
from gendalens.models.huggingface.devices import send
from gendalens.models.huggingface.forward import Network
from gendalens.models.huggingface.padding_trial import is_same
from gendalens.models.huggingface.prefixes import PrefixNetwork
from gendalens.models.huggingface.prepared import Row, Site
from gendalens.models.huggingface.trie import Tree, pack_trees
from gendalens.models.huggingface.vocabulary_head import VocabularyHead, list_changes
from gendalens.models.library_errors import is_out_of_memory

if TYPE_CHECKING:
    import torch

# The lengths of text up to which trees are tried, one after the other as texts need them; longer texts
# are read plainly. With each, the nodes of a tree: every node attends to the whole width, so wider trees
# would cost more than they share.
_WIDTHS = {64: 384, 192: 384, 384: 768, 768: 1536}
# How many of a trial's rows are compared; the others only make its tree as wide as those that are read.
_COMPARED = 3
# The most tokens of a pass on a graphics card, padding included; a processor reads one tree at a time.
_PASS_TOKENS = 8192
# In units of the logits' typical size, if that is above 1. Rounding moves float32 by about 1e-5; coarser
# formats by about ten times their precision.
_TOLERANCE = 1e-4
_ROUNDING = 32


class TreeNetwork(PrefixNetwork):
    """A causal network that reads its rows as trees, as far as its architecture can."""

    def __init__(self, model: Any, name: str, pad: int, max_positions: int) -> None:
        super().__init__(model, name, pad, max_positions)
        self._trial_tokens: Row = ()
        self._window: int | None = None
        self._tried: dict[int, bool] = {}
        self._trying = threading.Lock()

    def try_batches(self, rows: Sequence[Row], window: int | None = None) -> None:
        """Find out which rows can be read together; the longest of them is kept for trials of trees."""
        super().try_batches(rows, window)
        self._trial_tokens = max(rows, key=len, default=())
        self._window = window
        # Most texts are this short: what they need is tried here, and not while they wait.
        if self.find_tree_limit(1):
            _ = self._head

    def find_tree_limit(self, longest: int) -> int:
        """The longest row, up to ``longest``, that can be read in a tree; 0 if none can.

        Tried with fixed tokens, so that it does not depend on what is read first.
        """
        found = 0
        for limit in _WIDTHS:
            if found >= longest or not self._can_read(limit):
                break
            found = limit
        return int(min(found, self._attention_span))

    def fill(
        self, wanted: Mapping[Row, Mapping[int, Site]], sets: Mapping[str, Sequence[int]]
    ) -> None:
        """Read the logits at every site, in trees where they can be."""
        import torch

        limit = self.find_tree_limit(max(map(len, wanted), default=0))
        short = {row: list(wanted[row]) for row in wanted if len(row) <= limit}
        if short:
            width = _find_width(max(map(len, short)))
            most = width if self._head else self._max_positions
            with torch.inference_mode():
                for trees in self._group(pack_trees(short, width=width, most_asked=most)):
                    self._read_trees(trees, wanted, sets)
        super().fill({row: wanted[row] for row in wanted if row not in short}, sets)

    def _group(self, trees: Iterable[Tree]) -> Iterator[list[Tree]]:
        """The trees that run in one pass, padded to the largest of them."""
        # Without a head in blocks, one tree may ask for all the logits that memory has room for.
        most = _PASS_TOKENS if self._head and self._input_device.type != "cpu" else 0
        group: list[Tree] = []
        for tree in trees:
            tokens = (len(group) + 1) * max(map(len, (*group, tree)))
            if group and tokens > most:
                yield group
                group = []
            group.append(tree)
        if group:
            yield group

    def _read_trees(
        self,
        trees: Sequence[Tree],
        wanted: Mapping[Row, Mapping[int, Site]],
        sets: Mapping[str, Sequence[int]],
    ) -> None:
        """Read the sites of the rows of some trees; a node that several rows ask about is read once."""
        sites: dict[tuple[int, int], Site] = {}
        copies: list[tuple[Site, Site]] = []
        for number, tree in enumerate(trees):
            for row, path in tree.paths.items():
                for at, site in wanted[row].items():
                    node = sites.setdefault((number, path[at]), Site())
                    node.log_probs |= site.log_probs
                    copies.append((site, node))
        if self._head:
            self._read_hidden(trees, sites)
        else:
            logits = self._read_nodes(trees, list(sites))
            self.read_logits(list(sites.values()), logits, sets)
        for site, node in copies:
            site.log_probs = {token: node.log_probs[token] for token in site.log_probs}

    def _read_hidden(self, trees: Sequence[Tree], sites: Mapping[tuple[int, int], Site]) -> None:
        """Read the sites with the output layer in blocks, so that no line of logits is ever whole."""
        assert self._head is not None
        hidden = self._run_to_head(trees, list(sites))
        asked = [
            (index, token) for index, site in enumerate(sites.values()) for token in site.log_probs
        ]
        values, totals = self._head.read(hidden, asked)
        self.store_log_probs(list(sites.values()), asked, values, totals)

    def _read_nodes(self, trees: Sequence[Tree], places: Sequence[tuple[int, int]]) -> torch.Tensor:
        """The logits at the places (tree, node), one line each."""
        ids, mask, positions = self._lay_out(trees)
        return self.run(ids, mask, places, position_ids=positions)[0]

    def _run_to_head(
        self, trees: Sequence[Tree], places: Sequence[tuple[int, int]]
    ) -> torch.Tensor:
        """What the output layer gets at the places (tree, node), one line each."""
        ids, mask, positions = self._lay_out(trees)
        return self._run_to_layer(ids, mask, places, position_ids=positions)

    def _run_to_layer(
        self, ids: torch.Tensor, mask: torch.Tensor, places: Sequence[tuple[int, int]], **more: Any
    ) -> torch.Tensor:
        """What the output layer gets at the places; the layer itself gets nothing to do."""
        self._asked.catches = True
        try:
            self.call_at(ids, mask, places, **more)
            hidden: torch.Tensor = self._asked.hidden
        finally:
            self._asked.catches = False
            self._asked.hidden = None
        return hidden

    def _pick(self, part: Any, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Reduce the output layer's input to the places asked for, or keep it and pass nothing on."""
        picked = super()._pick(part, args)
        if picked is None or not getattr(self._asked, "catches", False):
            return picked
        self._asked.hidden = picked[0][0]
        return (picked[0][:, :0], *picked[1:])

    def _lay_out(self, trees: Sequence[Tree]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The trees as rows of tokens, who attends to whom, and the positions."""
        import numpy as np
        import torch

        width = max(map(len, trees))
        tokens = np.full((len(trees), width), self._pad)
        depths = np.zeros((len(trees), width), dtype=np.int64)
        # Padding attends to itself: a softmax over nothing is not a number.
        attends = np.tile(np.eye(width, dtype=bool), (len(trees), 1, 1))
        for number, tree in enumerate(trees):
            tokens[number, : len(tree)] = tree.tokens
            depths[number, : len(tree)] = tree.depths
            its = attends[number]
            for node, parent in enumerate(tree.parents):
                if parent >= 0:
                    its[node] |= its[parent]
        dtype = self._model.dtype
        mask = torch.zeros((len(trees), 1, width, width), dtype=dtype)
        mask.masked_fill_(~torch.from_numpy(attends)[:, None], torch.finfo(dtype).min)
        device = self._input_device
        ids, positions = (send(torch.from_numpy(part).long(), device) for part in (tokens, depths))
        return ids, send(mask, device), positions

    @cached_property
    def _head(self) -> VocabularyHead | None:
        """The output layer for reading in blocks; None if it is more than a linear layer."""
        import torch

        layer = self._model.get_output_embeddings()
        if type(layer) is not torch.nn.Linear or layer.weight.is_meta or not self._trial_tokens:
            return None
        # Hooks, such as those that fetch weights, and changes to the logits are found out by trying.
        if hasattr(layer, "_hf_hook"):
            return None
        row = self._trial_tokens
        places = [(0, at) for at in sorted({0, len(row) // 2, len(row) - 1})]
        with torch.inference_mode():
            ids, mask = self.pad_rows([row])
            plain = self.run(ids, mask, places)[0].float()
            try:
                hidden = self._run_to_layer(ids, mask, places)
                for change in list_changes(self._model.config.get_text_config()):
                    head = VocabularyHead(layer, change)
                    found = head.compute_logits(hidden, 0, plain.shape[-1])
                    if is_same(plain.cpu().numpy(), found.cpu().numpy(), _TOLERANCE):
                        return head
            except Exception as error:
                # Each architecture whose output layer does more fails in its own way.
                if is_out_of_memory(error):
                    raise
        return None

    def _can_read(self, limit: int) -> bool:
        """Whether rows of up to ``limit`` tokens get the same numbers in trees as alone."""
        with self._trying:
            if limit not in self._tried:
                self._tried[limit] = self._try_trees(limit)
            return self._tried[limit]

    def _try_trees(self, limit: int) -> bool:
        import torch

        width = _WIDTHS[limit]
        span = self._attention_span
        is_coarse = self._model.dtype != torch.float32
        # In a coarse format a window that is counted in the wrong places might pass for rounding.
        if self.batching is not Batching.ANY_LENGTH or (is_coarse and width > span):
            return False
        depth = int(min(limit, self._window or limit, span))
        rows = _make_trial_rows(self._trial_tokens, depth, width)
        if not rows:
            return False
        (tree,) = pack_trees(dict.fromkeys(rows, ()), width=width, most_asked=width)
        # The first and the last rows of the tree are the farthest apart in it.
        compared = sorted({rows[0], *sorted(rows)[:: max(1, (len(rows) - 1) // _COMPARED)]})
        places = [
            (index, at)
            for index, row in enumerate(compared)
            for at in sorted({len(row) // 2, len(row) - 2, len(row) - 1})
        ]
        nodes = [(0, tree.paths[compared[index]][at]) for index, at in places]
        with torch.inference_mode():
            plain = Network._logits(self, compared, places).float()
            try:
                found = self._read_nodes([tree], nodes).float()
            except Exception as error:
                # Each architecture that knows no such mask, or no positions, fails in its own way.
                if is_out_of_memory(error):
                    raise
                return False
        tolerance = max(_TOLERANCE, _ROUNDING * torch.finfo(self._model.dtype).eps * is_coarse)
        return is_same(plain.cpu().numpy(), found.cpu().numpy(), tolerance)


def _find_width(longest: int) -> int:
    """The number of nodes of a tree whose longest row has this many tokens."""
    return next(width for limit, width in _WIDTHS.items() if longest <= limit)


def _make_trial_rows(tokens: Row, depth: int, width: int) -> list[Row]:
    """Rows whose tree has ``width`` nodes: a stem of ``depth`` tokens, and branches at several depths.

    The last branch is as far from the beginning of its own text as any that will be read.
    """
    several = sorted(set(tokens))
    if len(several) < 3 or depth < 4:
        return []
    stem = tuple(islice(cycle(tokens), depth))
    rows, left = [stem], width - depth
    for number in range(3 * (len(several) - 1)):
        if not left:
            break
        cut = depth * (1 + number % 3) // 4
        # Another token than the stem and every earlier branch have there.
        other = several[(several.index(stem[cut]) + 1 + number // 3) % len(several)]
        going_on = islice(cycle(reversed(tokens)), min(depth - cut, left) - 1)
        rows.append((*stem[:cut], other, *going_on))
        left -= len(rows[-1]) - cut
    return rows
