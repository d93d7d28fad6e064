"""Results in MLflow."""

from __future__ import annotations

from gendalens.integrations.logged_results import Loggable, read_loggable
from gendalens.integrations.tracker_libraries import import_tracker


def log_to_mlflow(results: Loggable, *, step: int | None = None, run_id: str | None = None) -> str:
    """Log the results of one model to an MLflow run, and return the run's id.

    Figures become metrics, findings and signatures become tags; the results, and the HTML report if the
    results are saved, become artifacts.

    Parameters
    ----------
    results
        A run folder, a :class:`BiasMeasurement`, or results.
    step
        The step of the metrics. Default: that of the measurement.
    run_id
        An existing run. Default: the active one, or a new one named after the model.

    """
    mlflow = import_tracker("mlflow")
    logged = read_loggable(results, step)
    active = mlflow.active_run()
    run_id = run_id or (active.info.run_id if active else None)
    client = mlflow.MlflowClient()
    if run_id is None:
        with mlflow.start_run(run_name=f"gendalens {logged.model}") as started:
            run_id = str(started.info.run_id)
    mlflow.log_metrics(logged.metrics, step=logged.step, run_id=run_id, synchronous=True)
    for name, value in logged.tags.items():
        client.set_tag(run_id, name, value)
    with logged.write_files() as files:
        for file in files:
            folder = "gendalens" if logged.step is None else f"gendalens/step-{logged.step:06d}"
            client.log_artifact(run_id, str(file), folder)
    return str(run_id)
