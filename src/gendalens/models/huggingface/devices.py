"""Where a model runs: on one device, or spread over several, with what is left over on disk."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gendalens.errors import UserError
from gendalens.models.library_errors import describe_error

if TYPE_CHECKING:
    import torch

#: The device of a model that is spread over all there are.
AUTO = "auto"

_LIMIT = re.compile(r"\s*(\d+|[a-z]+)\s*=\s*(\d+(?:\.\d+)?\s*[KMGT]i?B)\s*", re.IGNORECASE)


def parse_limits(text: str) -> dict[int | str, str]:
    """The memory that may be used of each device.

    >>> parse_limits("0=10GiB, cpu=2.5GB")
    {0: '10GiB', 'cpu': '2.5GB'}
    """
    found: dict[int | str, str] = {}
    for part in text.split(","):
        if (limit := _LIMIT.fullmatch(part)) is None:
            raise UserError(
                "{limit} is no limit on a device's memory: write it as 0=10GiB or cpu=30GiB, with commas"
                " between several.",
                limit=part.strip() or repr(text),
            )
        device, size = limit.groups()
        found[int(device) if device.isdigit() else device.lower()] = size.replace(" ", "")
    return found


def find_device(name: str | None) -> torch.device:
    """The device called ``name``; None is the graphics card if there is one."""
    import torch

    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise UserError(
            "The device {device} cannot be used ({reason}): choose cpu, or leave it out.",
            device=name,
            reason=describe_error(error),
        ) from error
    return device


def is_offloaded(model: Any) -> bool:
    """Whether some weights are fetched from memory elsewhere, or from disk, only when they are needed."""
    return any(weight.is_meta for weight in model.parameters())


def find_input_device(model: Any) -> torch.device:
    """The device on which a model expects its tokens."""
    import torch

    device: torch.device = model.device
    if device.type != "meta" and getattr(model, "hf_device_map", None) is None:
        return device
    embedding = model.get_input_embeddings()
    # Weights that are fetched when they are needed: accelerate's hook knows where to.
    hook = getattr(embedding, "_hf_hook", None)
    for part in (hook, *getattr(hook, "hooks", ())):
        if (found := getattr(part, "execution_device", None)) is not None:
            return torch.device(found)
    return torch.device(embedding.weight.device)


def send(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """A tensor of the CPU on another device, without waiting until it is there.

    A graphics card fetches by itself what lies in pinned memory, while the program goes on.
    """
    if device.type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


def send_pairs(
    pairs: Sequence[tuple[int, int]], device: torch.device
) -> tuple[torch.Tensor, torch.Tensor]:
    """The first and the second numbers of some pairs, as tensors on a device."""
    import torch

    first, second = send(torch.tensor(pairs, dtype=torch.long).reshape(-1, 2), device).T
    return first, second
