"""The device asked for."""

from __future__ import annotations

from sparallel.errors import SpecError


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
