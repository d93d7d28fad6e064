"""GenDa Lens inside other people's programs: training loops and experiment trackers.

Each name is imported when it is first used, so that a plain loop needs no transformers, and nothing
needs a tracker that it does not log to.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gendalens.integrations.history import BiasHistory
    from gendalens.integrations.measurement import BiasMeasurement, measure_bias
    from gendalens.integrations.mlflow import log_to_mlflow
    from gendalens.integrations.trackio import log_to_trackio
    from gendalens.integrations.trainer_callback import GenderBiasCallback
    from gendalens.integrations.wandb import log_to_wandb

__all__ = [
    "BiasHistory",
    "BiasMeasurement",
    "GenderBiasCallback",
    "log_to_mlflow",
    "log_to_trackio",
    "log_to_wandb",
    "measure_bias",
]

_HOMES = {
    "BiasHistory": "history",
    "BiasMeasurement": "measurement",
    "GenderBiasCallback": "trainer_callback",
    "log_to_mlflow": "mlflow",
    "log_to_trackio": "trackio",
    "log_to_wandb": "wandb",
    "measure_bias": "measurement",
}


def __getattr__(name: str) -> Any:
    """A public name, imported now."""
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return sorted({*globals(), *__all__})
