"""Figure 3: every trial of a workload at (learning rate, 1 - momentum), a panel a study."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sparallel.figures.trials import (
    Row,
    axis_label,
    draw_panels,
    metaparameter_axis,
    shown,
    trials_table,
)
from sparallel.records import DimensionRecord, StudyRecord
from sparallel.tabular import Table


def trial_map_plane(study: StudyRecord) -> tuple[DimensionRecord, DimensionRecord] | None:
    """The plane of the map: learning rate and momentum, or None where either is not searched."""
    by_name = {dimension.name: dimension for dimension in study.space}
    plane = by_name.get("learning_rate"), by_name.get("momentum")
    return None if plane[0] is None or plane[1] is None else (plane[0], plane[1])


def trial_map_table(studies: Sequence[StudyRecord]) -> Table:
    """Every trial with its metaparameters and how it ended."""
    return trials_table(studies)


def draw_trial_map(
    table: Table, plane: tuple[DimensionRecord, DimensionRecord], title: str
) -> Figure:
    """Mark every trial by how it ended; the winner is the gold star."""
    across, up = plane

    def place(row: Row) -> tuple[float, float]:
        return (
            shown(across, float(row[across.name] or 0)),
            shown(up, float(row[up.name] or 0)),
        )

    def scale(ax: Axes) -> None:
        metaparameter_axis(ax, across, "x")
        metaparameter_axis(ax, up, "y")

    return draw_panels(table, title, (axis_label(across), axis_label(up)), place, scale)
