"""`sparallel list`: what there is to choose from."""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.table import Table

from sparallel.cli import options
from sparallel.data import DATA_SETS
from sparallel.loading import load_spec
from sparallel.models import MODELS
from sparallel.optimizers import OPTIMIZERS
from sparallel.presets import preset_names
from sparallel.pruning import PRUNING_METHODS
from sparallel.schedules import SCHEDULES

REGISTRIES = (DATA_SETS, MODELS, OPTIMIZERS, SCHEDULES, PRUNING_METHODS)


def list_parts(json_: options.Json = False) -> None:
    """List the presets, data sets, models, optimizers, schedules and pruning methods."""
    presets = {name: load_spec(name).description for name in preset_names()}
    parts = {f"{registry.kind}s": registry.names() for registry in REGISTRIES}
    if json_:
        typer.echo(json.dumps({"presets": presets, **parts}, indent=2))
        return
    console = Console()
    table = Table(title="Presets", title_justify="left", box=None, pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("what it measures")
    for name, description in presets.items():
        table.add_row(name, description)
    console.print(table)
    for kind, names in parts.items():
        console.print(f"[bold]{kind.capitalize()}[/bold]: {', '.join(names)}")
    console.print("Your own part is named as module:attribute; your own TOML may extend a preset.")
