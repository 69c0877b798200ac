"""A measured folder on screen and as JSON: a row a sparsity, and its ratio to the dense network."""

from __future__ import annotations

from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from sparallel.smoothness.records import SmoothnessRecord
from sparallel.smoothness.summary import Quantity, Summary, dense_of, summarise

COMPARED = ("lipschitz", "delta", "beta")


def document(record: SmoothnessRecord) -> dict[str, object]:
    """The record and its summary as one JSON document."""
    summaries = summarise(record)
    rows = [_row(summary, dense_of(summaries)) for summary in summaries]
    return {**asdict(record), "summary": rows}


def _row(summary: Summary, dense: Summary | None) -> dict[str, object]:
    row: dict[str, object] = {"sparsity": summary.sparsity, "until": summary.until}
    for name in COMPARED:
        own: Quantity | None = getattr(summary, name)
        ratio = _ratio(own, getattr(dense, name, None))
        row[name] = own.mean if own else None
        row[f"{name}_deviation"] = own.deviation if own else None
        row[f"{name}_ratio"] = ratio.mean if ratio else None
        row[f"{name}_ratio_deviation"] = ratio.deviation if ratio else None
    row["lipschitz_error"] = summary.lipschitz_error
    row["noise_scale"] = summary.noise_scale
    row["infeasible"] = summary.infeasible
    return row


def print_summary(record: SmoothnessRecord, console: Console) -> None:
    """What was measured, in one table."""
    summaries = summarise(record)
    dense = dense_of(summaries)
    seeds = len({path.seed for path in record.paths})
    spread = f", mean ± deviation over {seeds} seeds" if seeds > 1 else ""
    title = f"{record.name}: L along training{spread}; Delta and beta at initialization"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    for column in ("sparsity", "L", "L / dense", "Delta", "beta", "beta / dense", "noise scale"):
        table.add_column(column, justify="right")
    for summary in summaries:
        table.add_row(
            f"{summary.sparsity:g}",
            _said(summary.lipschitz),
            _said(_ratio(summary.lipschitz, dense.lipschitz if dense else None)),
            _said(summary.delta),
            _said(summary.beta),
            _said(_ratio(summary.beta, dense.beta if dense else None)),
            "" if summary.noise_scale is None else f"{summary.noise_scale:.3g}",
        )
    console.print(table)
    for summary in summaries:
        if summary.infeasible:
            console.print(
                f"At sparsity {summary.sparsity:g}, {summary.infeasible} of {seeds} runs diverged "
                "and are left out of the means along training: try a lower learning_rate.",
                highlight=False,
            )


def _ratio(own: Quantity | None, other: Quantity | None) -> Quantity | None:
    return own.over(other) if own and other else None


def _said(quantity: Quantity | None) -> str:
    if quantity is None:
        return ""
    spread = f" ± {quantity.deviation:.2g}" if quantity.deviation is not None else ""
    return f"{quantity.mean:.3g}{spread}"
