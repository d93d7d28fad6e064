"""The state of a torch module that belongs to the user, saved before a run and put back after it."""

from __future__ import annotations

from typing import Any, NamedTuple


class _Attributes(NamedTuple):
    """The attributes of one module, and the content of those that torch changes in place."""

    values: dict[str, Any]
    contents: dict[str, Any]


class ModuleState:
    """Everything but the values of the weights: modes, hooks, caches, parts, and random numbers.

    Some architectures replace parts of themselves while they read (BigBird) or keep tensors for the
    next text, so every attribute of every module is saved, not only those that GenDa Lens changes.
    """

    def __init__(self, module: Any) -> None:
        self._parts = [(part, _save_attributes(part)) for part in module.modules()]
        self._random = _RandomNumbers({one.device.type for one in module.parameters()})

    def restore(self) -> None:
        """Put everything back as it was when it was saved."""
        for part, saved in self._parts:
            for name, content in saved.contents.items():
                container = saved.values[name]
                container.clear()
                container.update(content)
            vars(part).clear()
            vars(part).update(saved.values)
        self._random.restore()


def _save_attributes(part: Any) -> _Attributes:
    values = dict(vars(part))
    # Weights, buffers, parts and hooks are in such containers.
    contents = {
        name: value.copy()
        for name, value in values.items()
        if name.startswith("_") and isinstance(value, dict | set)
    }
    return _Attributes(values, contents)


class _RandomNumbers:
    """The state of torch's generators on the processor and on the devices of a model."""

    def __init__(self, devices: set[str]) -> None:
        import torch

        self._on_processor = torch.get_rng_state()
        self._on_cards = torch.cuda.get_rng_state_all() if "cuda" in devices else None
        self._on_apple = torch.mps.get_rng_state() if "mps" in devices else None

    def restore(self) -> None:
        import torch

        torch.set_rng_state(self._on_processor)
        if self._on_cards is not None:
            torch.cuda.set_rng_state_all(self._on_cards)
        if self._on_apple is not None:
            torch.mps.set_rng_state(self._on_apple)
