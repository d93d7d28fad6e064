"""Results in experiment trackers, read back through the trackers' own interfaces."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import gendalens
from gendalens.errors import UserError
from gendalens.integrations import log_to_mlflow, log_to_trackio, log_to_wandb
from gendalens.integrations.logged_results import read_loggable
from gendalens.results.result import Result
from gendalens.results.saved_results import find_results


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A run folder with two tests of a control model."""
    folder = tmp_path / "run"
    gendalens.run(
        "control:stereotyped?strength=0.9",
        tasks=["lm-dawinobias", "lm-abc"],
        data="builtin",
        sample=40,
        out=folder,
    )
    return folder


@pytest.fixture
def results(run_folder: Path) -> list[Result]:
    return [one.result for one in find_results([run_folder])]


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """MLflow with a database of its own."""
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    yield mlflow
    mlflow.end_run()


@pytest.fixture
def trackio(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """trackio with a folder of its own."""
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "trackio"))
    return pytest.importorskip("trackio", reason="trackio is not installed")


@pytest.fixture
def wandb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """W&B without a network."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DATA_DIR", str(tmp_path))
    return pytest.importorskip("wandb", reason="wandb is not installed")


def expected_metrics(results: list[Result]) -> dict[str, float]:
    """Some of the figures, by the names they must have."""
    return {
        f"eval/gendalens/{one.task}/{name}": figure
        for one in results
        for name, figure in (
            ("gap", one.gap.value),
            ("gap_low", one.gap.low),
            ("gap_high", one.gap.high),
            ("contrast_p", one.contrast.p),
        )
        if figure is not None
    }


def read_trackio(project: str, run: str) -> list[dict[str, Any]]:
    """What was logged to a run of trackio, whose public interface reads all but that."""
    storage: Any = pytest.importorskip("trackio.sqlite_storage")
    logs: list[dict[str, Any]] = storage.SQLiteStorage.get_logs(project, run)
    return logs


# The libraries warn of their own and each other's future.
tracker = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


class TestMlflow:
    pytestmark = tracker

    def test_a_run_folder_is_read_back_with_its_report(
        self, mlflow: Any, run_folder: Path, results: list[Result]
    ) -> None:
        run_id = log_to_mlflow(run_folder)
        client = mlflow.MlflowClient()
        logged = client.get_run(run_id)
        assert logged.info.status == "FINISHED"
        assert mlflow.active_run() is None
        assert expected_metrics(results).items() <= logged.data.metrics.items()
        for result in results:
            assert logged.data.tags[f"gendalens/{result.task}/signature"] == result.signature
            assert logged.data.tags[f"gendalens/{result.task}/finding"] == result.finding.headline
        names = {Path(one.path).name for one in client.list_artifacts(run_id, "gendalens")}
        assert names == {"lm-abc.json", "lm-dawinobias.json", "report.html"}
        report = mlflow.artifacts.load_text(f"runs:/{run_id}/gendalens/report.html")
        assert "control:stereotyped" in report
        saved = json.loads(mlflow.artifacts.load_text(f"runs:/{run_id}/gendalens/lm-abc.json"))
        assert Result.from_dict(saved) in results

    def test_steps_go_to_the_active_run(self, mlflow: Any, results: list[Result]) -> None:
        with mlflow.start_run() as active:
            for step in (10, 20):
                assert log_to_mlflow(results, step=step) == active.info.run_id
        history = mlflow.MlflowClient().get_metric_history(
            active.info.run_id, f"eval/gendalens/{results[0].task}/gap"
        )
        assert [(one.step, one.value) for one in history] == [
            (10, results[0].gap.value),
            (20, results[0].gap.value),
        ]

    def test_a_trainer_that_reports_to_it_sends_the_figures(
        self, mlflow: Any, tmp_path: Path
    ) -> None:
        from small_training import QUICK, train_with_trainer

        from gendalens.integrations import GenderBiasCallback

        callback = GenderBiasCallback(every_steps=3, **QUICK)
        with mlflow.start_run() as active:
            train_with_trainer(callback, out=tmp_path, report_to="mlflow")
        found = mlflow.MlflowClient().get_metric_history(
            active.info.run_id, "eval_gendalens/lm-abc/gap"
        )
        assert [(one.step, one.value) for one in found] == [
            (one.step, one.results[0].gap.value) for one in callback.history
        ]


class TestTrackio:
    pytestmark = tracker

    def test_a_run_folder_is_read_back_with_its_report(
        self, trackio: Any, tmp_path: Path, run_folder: Path, results: list[Result]
    ) -> None:
        name = log_to_trackio(run_folder, step=5, project="tested", name="first")
        assert trackio.context_vars.current_run.get() is None
        [run] = trackio.Api().runs("tested")
        assert run.name == name == "first"
        [logged] = read_trackio("tested", run.name)
        assert logged["step"] == 5
        assert expected_metrics(results).items() <= logged.items()
        trackio.init(project="tested", name="reader")
        artifact = trackio.use_artifact("gendalens-control_stereotyped_strength_0.9:latest")
        folder = Path(artifact.download(tmp_path / "downloaded"))
        trackio.finish()
        assert artifact.metadata["gendalens/lm-abc/signature"] in {one.signature for one in results}
        assert "control:stereotyped" in (folder / "report.html").read_text(encoding="utf-8")
        saved = json.loads((folder / "lm-abc.json").read_text(encoding="utf-8"))
        assert Result.from_dict(saved) in results

    def test_results_go_to_the_run_in_progress(self, trackio: Any, results: list[Result]) -> None:
        trackio.init(project="tested", name="mine")
        trackio.log({"loss": 1.0}, step=0)
        assert log_to_trackio(results, step=1) == "mine"
        assert trackio.context_vars.current_run.get() is not None
        trackio.finish()
        first, second = read_trackio("tested", "mine")
        assert first["loss"] == 1.0
        assert expected_metrics(results).items() <= second.items()

    def test_a_trainer_that_reports_to_it_sends_the_figures(
        self, trackio: Any, tmp_path: Path
    ) -> None:
        from small_training import QUICK, train_with_trainer

        from gendalens.integrations import GenderBiasCallback

        callback = GenderBiasCallback(every_steps=3, **QUICK)
        train_with_trainer(callback, out=tmp_path, report_to="trackio", project="trained")
        [run] = trackio.Api().runs("trained")
        name = "eval/gendalens/lm-abc/gap"
        found = [one[name] for one in read_trackio("trained", run.name) if name in one]
        assert found == [one.results[0].gap.value for one in callback.history]


class TestWandb:
    pytestmark = tracker

    def test_figures_and_report_of_a_run_folder_arrive(
        self, wandb: Any, tmp_path: Path, run_folder: Path, results: list[Result]
    ) -> None:
        with wandb.init(project="tested", dir=tmp_path) as run:
            assert log_to_wandb(run_folder, step=5) == run.id
            assert run.summary["train/global_step"] == 5
            assert expected_metrics(results).items() <= dict(run.summary).items()
            assert run.config["gendalens/lm-abc/finding"] == "bias"
        wandb.teardown()  # writes what is left
        [stored] = tmp_path.glob("wandb/offline-run-*/*.wandb")
        assert b"report.html" in stored.read_bytes()

    def test_without_a_run_one_is_made_and_finished(
        self, wandb: Any, tmp_path: Path, results: list[Result]
    ) -> None:
        run_id = log_to_wandb(results, dir=tmp_path)
        assert wandb.run is None
        assert list(tmp_path.glob(f"wandb/offline-run-*-{run_id}"))


class TestTensorBoard:
    pytestmark = tracker

    def test_a_trainer_that_reports_to_it_sends_the_figures(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reading: Any = pytest.importorskip(
            "tensorboard.backend.event_processing.event_accumulator",
            reason="tensorboard is not installed",
        )
        from small_training import QUICK, train_with_trainer

        from gendalens.integrations import GenderBiasCallback

        monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "board"))
        callback = GenderBiasCallback(every_steps=3, **QUICK)
        train_with_trainer(callback, out=tmp_path, report_to="tensorboard")
        events = reading.EventAccumulator(str(tmp_path / "board"))
        events.Reload()
        found = events.Scalars("eval/gendalens/lm-abc/gap")
        assert [one.step for one in found] == [one.step for one in callback.history]
        assert [one.value for one in found] == pytest.approx(
            [one.results[0].gap.value for one in callback.history], rel=1e-6
        )


def test_without_the_library_the_user_is_told_what_to_install(
    results: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    for log in (log_to_mlflow, log_to_trackio, log_to_wandb):
        name = log.__name__.removeprefix("log_to_")
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(UserError, match=f'pip install "{name}>='):
            log(results)


def test_results_of_several_models_or_several_of_a_test_are_refused(results: list[Result]) -> None:
    other = gendalens.run("control:fair", tasks="lm-abc", data="builtin", sample=40)
    with pytest.raises(UserError, match="results of 2 models"):
        read_loggable([*results, *other])
    with pytest.raises(UserError, match="several results of lm-abc"):
        read_loggable([*results, *results])
    with pytest.raises(UserError, match="no results"):
        read_loggable([])


def test_the_report_is_among_the_files_of_a_run_folder(
    chart_library: None, run_folder: Path, results: list[Result]
) -> None:
    with read_loggable(run_folder).write_files() as files:
        assert [one.name for one in files] == ["lm-abc.json", "lm-dawinobias.json", "report.html"]
        assert Result.from_dict(json.loads(files[0].read_text(encoding="utf-8"))) in results
    assert not any(one.exists() for one in files)
    with read_loggable(results).write_files() as files:  # without records there is no report
        assert [one.suffix for one in files] == [".json", ".json"]
