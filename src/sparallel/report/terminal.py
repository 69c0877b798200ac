"""The results in a terminal: the table, the answer in words and a small plot."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from sparallel.analysis.interval import rounded
from sparallel.analysis.values import Analysis, Curve, CurvePoint, Fit, Ratio
from sparallel.report.textplot import Series, text_plot


def print_analysis(analysis: Analysis, console: Console) -> None:
    """Print everything a user wants to see at once; text from specs is never markup."""
    for curve in analysis.curves:
        if curve.points:
            console.print(curve_table(curve))
            for line in _below_table(curve):
                console.print(Text(f"  {line}"))
            console.print()
    for ratio in analysis.ratios:
        if ratio.points:
            console.print(ratio_table(ratio))
    for line in _plots(analysis):
        console.print(Text(line), no_wrap=True, crop=True)
    console.print(Text("Answer", style="bold"))
    for sentence in analysis.answer:
        console.print(Text(f"  {sentence}"))
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
    table = Table(title=escape(curve.label), title_justify="left")
    headings = ["B", "K*", "95% interval"]
    headings += ["K* of half the trials"] if halves else []
    headings += ["rerun median"] if reruns else []
    headings += ["examples", "seconds", "x ideal", "trials"]
    for heading in headings:
        table.add_column(heading, justify="right")
    for point in curve.points:
        cells = [str(point.batch_size), _steps(point)]
        cells.append("" if point.interval is None else point.interval.brackets(_whole))
        if halves:
            half = point.subsample_interval
            cells.append("" if half is None else half.brackets(_whole))
        if reruns:
            cells.append(_reruns(point))
        cells.append("" if point.examples is None else str(point.examples))
        cells.append(_number(point.seconds_to_result))
        cells.append(_number(point.above_ideal))
        cells.append(str(point.trials))
        table.add_row(*map(escape, cells))
    return table


def _below_table(curve: Curve) -> list[str]:
    """What the curve says, under the name of each definition."""
    lines = [
        f"critical batch size, {c.definition}: {_number(c.value) or 'not reached'}, "
        f"{c.interval.in_words()}"
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


def _noise(fit: Fit) -> str:
    source = "reruns and residuals" if fit.sigma_from_reruns else "residuals"
    return f"noise of log K {fit.sigma:.2g} (from {source})"


def ratio_table(ratio: Ratio) -> Table:
    """Sparse over dense K* by batch size; rerun medians have their own column."""
    reruns = any(point.rerun_ratio is not None for point in ratio.points)
    table = Table(title=escape(f"K*: {ratio.label}"), title_justify="left")
    headings = ["B", "K* ratio", "95% interval"]
    for heading in [*headings, "rerun-median ratio"] if reruns else headings:
        table.add_column(heading, justify="right")
    for point in ratio.points:
        cells = [str(point.batch_size), _number(point.ratio), point.interval.brackets()]
        cells += [_number(point.rerun_ratio)] if reruns else []
        table.add_row(*map(escape, cells))
    return table


def _plots(analysis: Analysis) -> list[str]:
    """One plot a workload and goal, with a series a sparsity."""
    lines: list[str] = []
    groups = dict.fromkeys((c.workload, c.goal_error) for c in analysis.curves)
    for workload, goal in groups:
        curves = [c for c in analysis.curves if (c.workload, c.goal_error) == (workload, goal)]
        plot = text_plot([_series(curve) for curve in curves if _reached(curve)])
        lines += ["", f"{workload}, goal {goal:g}", *plot] if plot else []
    return [*lines, ""] if lines else []


def _series(curve: Curve) -> Series:
    reached = _reached(curve)
    fitted = [] if curve.fit is None else [(p.batch_size, p.steps) for p in curve.fit.band]
    first = reached[0]
    start = first[0] * first[1]
    ideal = [(size, start / size) for size in (2 ** (i / 4) for i in range(0, 80))]
    within = [(x, y) for x, y in ideal if first[0] <= x <= reached[-1][0]]
    return Series(curve.label.rsplit(", ", 1)[1], reached, fitted, within)


def _reached(curve: Curve) -> list[tuple[float, float]]:
    return [(p.batch_size, p.steps) for p in curve.points if p.steps is not None]


def _print_list(console: Console, title: str, sentences: list[str] | tuple[str, ...]) -> None:
    if sentences:
        console.print(Text(title, style="bold"))
        for sentence in sentences:
            console.print(Text(f"  {sentence}"))


def _steps(point: CurvePoint) -> str:
    return f"> {point.budget}" if point.steps is None else str(point.steps)


def _reruns(point: CurvePoint) -> str:
    if not point.reruns:
        return ""
    median = "none arrived" if point.rerun_median is None else f"{point.rerun_median:g}"
    return f"{median} ({point.reruns_arrived} of {point.reruns})"


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _number(value: float | None) -> str:
    return "" if value is None else rounded(value)
