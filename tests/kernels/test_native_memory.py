"""The native kernels stay inside their buffers: built and run under AddressSanitizer and UBSan."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
NATIVE = HERE.parent.parent / "src" / "sparallel" / "kernels" / "native"
SANITIZED = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O0", "-g"]


def build(program: Path) -> Path:
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "the kernels' memory can only be checked with a C compiler"
    sources = [NATIVE / f"{name}.c" for name in ("plan", "dispatch", "baseline", "avx2", "avx512")]
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", *SANITIZED, f"-I{NATIVE}"]
    files = [str(path) for path in (*sorted(HERE.glob("*.c")), *sources)]
    subprocess.run([compiler, *flags, *files, "-lm", "-o", str(program)], check=True)
    return program


def test_kernels_agree_with_their_definition_and_never_leave_their_buffers(tmp_path: Path) -> None:
    program = build(tmp_path / "check")
    # A preloaded library would stand before the sanitizer's own.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    ran = subprocess.run(
        [program, "150"], capture_output=True, text=True, check=False, env=environment
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "baseline (4 lanes): 150 rounds agree" in ran.stdout
    assert "wide (16 lanes): 150 rounds agree" in ran.stdout
