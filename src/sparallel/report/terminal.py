"""The results in a terminal: the table, the answer in words and a small plot."""

from __future__ import annotations

from collections.abc import Callable

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from sparallel.analysis.interval import Interval, rounded
from sparallel.analysis.values import Analysis, CriticalBatchSize, Curve, CurvePoint, Fit, Ratio
from sparallel.report.textplot import Series, text_plot


def print_analysis(analysis: Analysis, console: Console) -> None:
    """Print everything a user wants to see at once; text from specs is never markup."""
    for curve in analysis.curves:
        if curve.points:
            console.print(Text(_title(curve), style="bold"))
            console.print(curve_table(curve))
            for line in _below_table(curve):
                console.print(_indented(line))
            console.print()
    for ratio in analysis.ratios:
        if ratio.points:
            console.print(Text(f"K*: {ratio.label}", style="bold"))
            console.print(ratio_table(ratio))
    for line in _plots(analysis):
        console.print(Text(line), no_wrap=True, crop=True)
    console.print(Text("Answer", style="bold"))
    for sentence in analysis.answer:
        console.print(_indented(sentence))
    _print_list(console, "Warnings", analysis.warnings)
    outside = [
        f"batch size {v.batch_size}, sparsity {v.sparsity:g}, goal {v.goal_error:g}: {v.verdict}"
        for v in analysis.borders
        if v.touches
    ]
    _print_list(console, "At the border of the searched space", outside)
    _print_list(console, "Missing", analysis.missing)


def curve_table(curve: Curve) -> Table:
    """K* of one curve by batch size; reruns have their own column, beside the minimum."""
    reruns = any(point.reruns for point in curve.points)
    halves = any(point.subsample_interval for point in curve.points)
    columns: dict[str, Callable[[CurvePoint], str]] = {
        "B": lambda p: str(p.batch_size),
        "K*": lambda p: f">{p.budget}" if p.steps is None else str(p.steps),
        "95% interval": lambda p: _short(p.interval),
        **({"half trials": lambda p: _short(p.subsample_interval)} if halves else {}),
        **({"rerun median": _reruns} if reruns else {}),
        "examples": lambda p: "" if p.examples is None else str(p.examples),
        "seconds": lambda p: _number(p.seconds_to_result),
        "x ideal": lambda p: _number(p.above_ideal),
    }
    trials = {point.trials for point in curve.points}
    if len(trials) > 1:
        columns["trials"] = lambda p: str(p.trials)
    table = _table(list(columns))
    for point in curve.points:
        table.add_row(*(escape(cell(point)) for cell in columns.values()))
    return table


def _title(curve: Curve) -> str:
    trials = {point.trials for point in curve.points}
    return curve.label + ("" if len(trials) > 1 else f", {trials.pop()} trials a study")


def _table(headings: list[str]) -> Table:
    """A plain table; in a narrow terminal its cells fold, so that no digit is ever cut."""
    table = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading in headings:
        table.add_column(heading, justify="right", overflow="fold")
    return table


def _below_table(curve: Curve) -> list[str]:
    """What the curve says, under the name of each definition."""
    lines = [
        f"critical batch size, {c.definition}: {_value(c)}, {c.interval.in_words()}"
        for c in curve.critical
    ]
    if curve.fit is not None:
        fit = curve.fit
        lines.append(
            f"K = c1/B + c2: c1 = {rounded(fit.c1)} {fit.c1_interval.brackets()}, "
            f"c2 = {rounded(fit.c2)} {fit.c2_interval.brackets()}, {_noise(fit)}"
        )
        lines.append(fit.goodness)
    if curve.regimes is not None and curve.regimes.linear_up_to and curve.regimes.maximal_from:
        linear, maximal = curve.regimes.linear_up_to, curve.regimes.maximal_from
        lines.append(
            f"linear scaling up to {rounded(linear)}, diminishing returns to {rounded(maximal)}, "
            "maximal data parallelism beyond"
        )
    return lines


def _value(critical: CriticalBatchSize) -> str:
    return critical.in_words().split(" [", 1)[0]


def _noise(fit: Fit) -> str:
    source = "reruns and residuals" if fit.sigma_from_reruns else "residuals"
    return f"noise of log K {fit.sigma:.2g} (from {source})"


def ratio_table(ratio: Ratio) -> Table:
    """Sparse over dense K* by batch size; rerun medians have their own column."""
    reruns = any(point.rerun_ratio is not None for point in ratio.points)
    headings = ["B", "K* ratio", "95% interval"]
    table = _table(headings + ["rerun-median ratio"] * reruns)
    for point in ratio.points:
        cells = [str(point.batch_size), _number(point.ratio), point.interval.short()]
        cells += [_number(point.rerun_ratio)] if reruns else []
        table.add_row(*map(escape, cells))
    return table


def _plots(analysis: Analysis) -> list[str]:
    """One plot a workload and goal, with a series a sparsity."""
    lines: list[str] = []
    groups = dict.fromkeys((c.workload, c.goal_error) for c in analysis.curves)
    for workload, goal in groups:
        curves = [c for c in analysis.curves if (c.workload, c.goal_error) == (workload, goal)]
        sizes = {size for curve in curves for size, _ in _reached(curve)}
        if len(sizes) < 2:
            continue  # one batch size draws no curve
        plot = text_plot([_series(curve) for curve in curves if _reached(curve)])
        lines += ["", f"{workload}, goal {goal:g}", *plot]
    return [*lines, ""] if lines else []


def _series(curve: Curve) -> Series:
    reached = _reached(curve)
    fitted = [] if curve.fit is None else [(p.batch_size, p.steps) for p in curve.fit.band]
    first = reached[0]
    start = first[0] * first[1]
    span = reached[-1][0] / first[0]
    ideal = [(x, start / x) for x in (first[0] * span ** (i / 30) for i in range(31))]
    return Series(curve.label.rsplit(", ", 1)[1], reached, fitted, ideal)


def _reached(curve: Curve) -> list[tuple[float, float]]:
    return [(p.batch_size, p.steps) for p in curve.points if p.steps is not None]


def _indented(sentence: str) -> Padding:
    return Padding(Text(sentence), (0, 0, 0, 2))


def _print_list(console: Console, title: str, sentences: list[str] | tuple[str, ...]) -> None:
    if sentences:
        console.print(Text(title, style="bold"))
        for sentence in sentences:
            console.print(_indented(sentence))


def _reruns(point: CurvePoint) -> str:
    if not point.reruns:
        return ""
    median = "none" if point.rerun_median is None else f"{point.rerun_median:g}"
    return f"{median} ({point.reruns_arrived}/{point.reruns})"


def _short(interval: Interval | None) -> str:
    return "" if interval is None else interval.short(lambda value: f"{value:.0f}")


def _number(value: float | None) -> str:
    return "" if value is None else rounded(value)
