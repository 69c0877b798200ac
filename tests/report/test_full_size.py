"""The paper's MNIST plan, 168 studies of 100 trials, is reported within its budget."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, resource, sys
from pathlib import Path
from sparallel.analysis import analyse
from sparallel.figures import draw_all
from sparallel.report.html import write_report
from tests.generated import full_size_experiment

experiments = [full_size_experiment()]
folder = Path(sys.argv[1])
analysis = analyse(experiments)
figures = draw_all(experiments, analysis, folder / "figures", workers=2)
path = write_report(experiments, analysis, folder, figures)
own = resource.getrusage(resource.RUSAGE_SELF)
# Not ru_maxrss, which a new process inherits from the one that started it.
status = Path("/proc/self/status").read_text()
peak = int(status.partition("VmHWM:")[2].split()[0])
workers = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({
    "studies": len(experiments[0].studies),
    "trials": sum(len(study.trials) for study in experiments[0].studies),
    "figures": len(figures),
    "bytes": path.stat().st_size,
    "seconds": own.ru_utime + own.ru_stime + (workers.ru_utime + workers.ru_stime) / 2,
    "megabytes": (peak + 2 * workers.ru_maxrss) / 1024,
}))
"""


def test_a_full_size_report_takes_a_minute_a_gigabyte_and_15_megabytes_at_most(
    tmp_path: Path,
) -> None:
    """Processor seconds of two cores, so that a busy machine does not decide."""
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(tmp_path)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    used = json.loads(run.stdout)
    assert (used["studies"], used["trials"]) == (168, 16_800)
    assert used["figures"] == 4 * 19
    assert used["bytes"] < 15e6
    assert used["seconds"] < 60
    assert used["megabytes"] < 1024
