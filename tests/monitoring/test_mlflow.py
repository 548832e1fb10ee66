"""The how-to page on MLflow does what it says, against what MLflow's functions take."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from accordant.monitoring import monitor

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "log-to-mlflow.md"
NAME = re.compile(r"[\w\-./ ]+")  # of a metric or a parameter, in MLflow 3


class Recorder(ModuleType):
    """The functions of MLflow that the page calls, with their parameters; they note what they are given."""

    def __init__(self):
        super().__init__("mlflow")
        self.tags, self.params, self.metrics, self.artifacts, self.dicts = {}, {}, {}, [], {}

    @contextmanager
    def start_run(self, run_id=None, run_name=None):
        yield SimpleNamespace(info=SimpleNamespace(run_id=run_id or f"{run_name}-1"))

    def set_tags(self, tags):
        assert all(isinstance(value, str) for value in tags.values())
        self.tags |= tags

    def log_params(self, params):
        assert all(NAME.fullmatch(name) and len(str(value)) <= 6000 for name, value in params.items())
        self.params |= params

    def log_metrics(self, metrics):
        for name, value in metrics.items():
            self.log_metric(name, value)

    def log_metric(self, key, value, step=None):
        assert NAME.fullmatch(key) and isinstance(value, float | int)
        self.metrics[key] = value, step

    def log_artifacts(self, local_dir, artifact_path=None):
        assert Path(local_dir).is_dir()
        self.artifacts.append(artifact_path)

    def log_dict(self, dictionary, artifact_file):
        self.dicts[artifact_file] = dictionary


@pytest.fixture
def recorder(monkeypatch):
    made = Recorder()
    monkeypatch.setitem(sys.modules, "mlflow", made)
    return made


def test_the_page_logs_a_run_and_what_followed(recorder, watched, logged):
    (code,) = re.findall(r"^```python notest\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    page = {}
    exec(compile(code, str(PAGE), "exec"), page)  # noqa: S102 - a page of this project
    run_id = page["log_run"](watched.path)
    assert run_id == "loans-of-three-1" and recorder.tags["accordant_manifest"] == watched.manifest.sha256
    assert recorder.artifacts == ["run"] and recorder.params["seed"] == 3
    (row,) = (row for row in watched.record.test.leaderboard if row.strategy == watched.record.selected)
    logged_values = {name: value for name, (value, _) in recorder.metrics.items()}
    assert logged_values["Worst_Off"] == row.metrics["Worst_Off"].value
    assert {name for name in logged_values if name.endswith("_low")} == {
        f"{name}_low" for name, each in {"score": row.score, **row.metrics}.items() if each.low is not None
    }
    found = monitor(watched, *logged(100))
    page["log_monitored"](run_id, found)
    assert recorder.metrics["in_use_alarm"] == (0.0, 100) and recorder.dicts["monitored.json"] == found.to_json()
    assert recorder.metrics["in_use_Bank_minus_promised"][0] == found.rewards[0].difference
