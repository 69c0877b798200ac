"""The paper's workloads and the quickstart, as TOML files."""

from __future__ import annotations

from importlib.resources import files

SUFFIX = ".toml"


def preset_names() -> tuple[str, ...]:
    """The presets that come with the package, sorted."""
    names = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)))


def preset_text(name: str) -> str:
    """The TOML of a preset."""
    return files(__name__).joinpath(name + SUFFIX).read_text(encoding="utf-8")
