"""The device and the kernels asked for, and what bits depend on there."""

from __future__ import annotations

from sparallel import __version__
from sparallel.errors import SpecError
from sparallel.kernels import Mode, available, instruction_set, why_not
from sparallel.machine import cpu_model


def device_named(name: str) -> str:
    """ "cpu" or "cuda"; "auto" is the GPU where there is one."""
    import torch

    if name not in ("auto", "cpu", "cuda"):
        raise SpecError(f"--device takes auto, cpu or cuda, not {name!r}.")
    if name == "cuda" and not torch.cuda.is_available():
        raise SpecError(
            "--device cuda was asked for, but PyTorch finds no GPU here: use --device cpu."
        )
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return name


def kernels_named(name: str) -> Mode:
    """Whether pruned layers run on sparse kernels: "auto", "on" or "off"."""
    if name not in ("auto", "on", "off"):
        raise SpecError(f"--sparse-kernels takes auto, on or off, not {name!r}.")
    if name == "on" and not available():
        raise SpecError(f"--sparse-kernels on was asked for, but {why_not()}; use auto or off.")
    return "on" if name == "on" else "off" if name == "off" else "auto"


def numerics(device: str) -> str:
    """What the bits of a training run depend on, beside the run itself."""
    import torch

    where = cpu_model() if device == "cpu" else torch.cuda.get_device_name()
    capability = torch.backends.cpu.get_cpu_capability()
    kernels = instruction_set() or "no"
    return f"{__version__}|torch {torch.__version__}|{where}|{capability}|{kernels} kernels"
