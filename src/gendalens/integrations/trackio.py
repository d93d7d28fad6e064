"""Results in trackio."""

from __future__ import annotations

import re
from typing import Any

from gendalens.integrations.logged_results import Loggable, read_loggable
from gendalens.integrations.tracker_libraries import import_tracker


def log_to_trackio(
    results: Loggable,
    *,
    step: int | None = None,
    project: str = "gendalens",
    name: str | None = None,
    **options: Any,
) -> str:
    """Log the results of one model to a trackio run, and return the run's name.

    Figures become metrics. The results, and the HTML report if the results are saved, become an
    artifact, with findings and signatures as its metadata.

    Parameters
    ----------
    results
        A run folder, a :class:`BiasMeasurement`, or results.
    step
        The step of the metrics. Default: that of the measurement.
    project, name, options
        For ``trackio.init``, if no run is in progress: it is then finished as well. A run of that name
        is continued.

    """
    trackio = import_tracker("trackio")
    logged = read_loggable(results, step)
    run = trackio.context_vars.current_run.get()
    is_own = run is None
    if run is None:
        run = trackio.init(
            project=project, name=name, config=logged.tags, resume="allow", **options
        )
    try:
        run.log(logged.metrics, step=logged.step)
        artifact = trackio.Artifact(
            name=re.sub(r"[^\w.-]+", "_", f"gendalens-{logged.model}", flags=re.ASCII),
            type="evaluation",
            metadata=logged.tags,
        )
        with logged.write_files() as files:
            for file in files:
                artifact.add_file(file)
            run.log_artifact(artifact)
    finally:
        if is_own:
            trackio.finish()
    return str(run.name)
