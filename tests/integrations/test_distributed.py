"""The callback in distributed training: two processes on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = """if True:
    import json, os, sys
    from pathlib import Path
    from torch import distributed
    from gendalens.integrations import GenderBiasCallback
    from small_training import QUICK, train_with_trainer

    out = Path(sys.argv[1])
    callback = GenderBiasCallback(every_steps=3, **QUICK)
    settings = {"out": out, "ddp_backend": "gloo", "max_steps": 6}
    plain = train_with_trainer(**settings)
    measured = train_with_trainer(callback, **settings)
    found = {
        "plain": plain.losses,
        "measured": measured.losses,
        "steps": [one.step for one in callback.history if one.results],
    }
    (out / f"rank-{os.environ['RANK']}.json").write_text(json.dumps(found))
    # Otherwise threads of the group may outlive the interpreter, which ends the process by SIGABRT.
    distributed.barrier()
    distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_the_main_process_measures_and_every_process_trains_as_before(
    tmp_path: Path, own_home: Path
) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT, encoding="utf-8")
    tests = Path(__file__).parents[1]
    paths = [*map(str, (tests, tests / "models")), *filter(None, sys.path)]
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    subprocess.run(
        [sys.executable, *launch, str(script), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        check=True,
        timeout=280,
    )
    main, other = (_read(tmp_path / f"rank-{rank}.json") for rank in range(2))
    assert main["steps"] == [0, 3, 6]
    assert other["steps"] == []
    assert len(main["plain"]) == 6
    assert main["measured"] == main["plain"]
    assert other["measured"] == other["plain"]


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
