"""The paper's MNIST plan, 168 studies of 100 trials, is reported within its budget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from sparallel.store.reading import load_experiment
from tests.report.full_size import REPEATS, write_stores

SCRIPT = """
import json, resource, sys
from pathlib import Path
from sparallel.cli.main import main

try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
own = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss, which a new process inherits from the one that started it.
status = Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0])
workers = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({
    "seconds": own.ru_utime + own.ru_stime + (workers.ru_utime + workers.ru_stime) / 2,
    "megabytes": (peak + 2 * workers.ru_maxrss) / 1024,
}))
"""


def test_a_full_size_report_takes_a_minute_a_gigabyte_and_15_megabytes_at_most(
    tmp_path: Path,
) -> None:
    """Processor seconds of two cores, so that a busy machine does not decide."""
    folders = write_stores(tmp_path)
    studies = [study for folder in folders for study in load_experiment(folder).studies]
    assert (len(studies), sum(len(study.trials) for study in studies)) == (168, 16_800)
    assert all(study.finished and len(study.repeats) in (0, REPEATS) for study in studies)
    words = ["report", *map(str, folders), "--out", str(tmp_path / "report")]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    used = json.loads(run.stdout.splitlines()[-1])
    assert (tmp_path / "report" / "index.html").stat().st_size < 15e6
    assert len(list((tmp_path / "report" / "figures").iterdir())) == 4 * 19
    assert used["seconds"] < 60
    assert used["megabytes"] < 1024
