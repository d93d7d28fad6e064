"""Models whose weights are spread over several processes."""

from __future__ import annotations

from typing import Any

from gendalens.errors import UserError


def refuse_sharded() -> UserError:
    """The error for a model that no single process can run."""
    return UserError(
        "The weights of the model are spread over several processes (FSDP, DeepSpeed ZeRO-3 or tensor "
        "parallelism), and no single process can test it: save a checkpoint and test that with "
        "`gendalens run`."
    )


def is_sharded(model: Any) -> bool:
    """Whether this process holds only a part of the model's weights."""
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return False
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.tensor import DTensor

    return any(isinstance(part, FullyShardedDataParallel) for part in model.modules()) or any(
        isinstance(weight, DTensor)
        or hasattr(weight, "ds_id")  # DeepSpeed's mark of a split weight
        for weight in model.parameters()
    )
