"""Results in Weights & Biases."""

from __future__ import annotations

import re
from typing import Any

from gendalens.integrations.logged_results import Loggable, read_loggable
from gendalens.integrations.tracker_libraries import import_tracker


def log_to_wandb(
    results: Loggable,
    *,
    step: int | None = None,
    project: str | None = None,
    name: str | None = None,
    **options: Any,
) -> str:
    """Log the results of one model to a W&B run, and return the run's id.

    Figures become metrics, findings and signatures part of the configuration. The results, and the HTML
    report if the results are saved, become an artifact.

    Parameters
    ----------
    results
        A run folder, a :class:`BiasMeasurement`, or results.
    step
        The step of training, logged as ``train/global_step``, as the ``Trainer`` does. Default: that of
        the measurement.
    project, name, options
        For ``wandb.init``, if no run is in progress: it is then finished as well.

    """
    wandb = import_tracker("wandb")
    logged = read_loggable(results, step)
    run = wandb.run
    is_own = run is None
    if run is None:
        run = wandb.init(project=project or "gendalens", name=name or logged.model, **options)
    try:
        # W&B drops figures of a step that lies behind; the Trainer's own reporter logs steps like this.
        at = {} if logged.step is None else {"train/global_step": logged.step}
        run.log({**logged.metrics, **at})
        run.config.update(logged.tags, allow_val_change=True)
        artifact = wandb.Artifact(
            name=re.sub(r"[^\w.-]+", "_", f"gendalens-{logged.model}", flags=re.ASCII)[:128],
            type="evaluation",
            metadata=logged.tags,
        )
        with logged.write_files() as files:
            for file in files:
                artifact.add_file(str(file))
            run.log_artifact(artifact)
    finally:
        if is_own:
            run.finish()
    return str(run.id)
