"""The report's "Why" section: what smoothness and variance say of the cost of sparsity."""

from __future__ import annotations

from collections.abc import Sequence

from sparallel.analysis import FROM_FIT, FROM_POINTS, sparsity_in_words
from sparallel.report.charts import Chart, chart_figure
from sparallel.report.markup import Html, bullets, element, notice, section, table, together
from sparallel.report.words import NOTHING, significant, whole
from sparallel.smoothness.assumptions import ASSUMED
from sparallel.smoothness.paper import PaperValues, paper_values
from sparallel.smoothness.prediction import Measured, workload_of
from sparallel.smoothness.spread import Estimate
from sparallel.smoothness.summary import Quantity
from sparallel.smoothness.why import SparsityWhy, Why
from sparallel.smoothness.words import answer_sentences, state_in_words

_IN_SHORT = (
    "L says how fast the gradient turns as the weights move: the higher it is, the shorter the "
    "steps that still go downhill. beta says how much the gradients of single examples differ: "
    "the higher it is, the more a larger batch helps. Delta says how far the loss has to fall. "
    "The theory puts the three into c1, the number of examples that linear scaling needs."
)
_PAPER = (
    "The paper's means go over {steps:,} steps, with metaparameters and a batch size it does not "
    "print; ours go over the steps named above. Compare ratios, and single values only roughly."
)


def why_section(every: Sequence[Why], charts: Sequence[Sequence[Chart]]) -> Html:
    """A part a smoothness folder: the numbers, predicted against measured, and the charts."""
    return section(
        "why",
        "Why does sparsity cost steps?",
        element("p", _IN_SHORT),
        *(
            together(_folder(why, own, named=len(every) > 1))
            for why, own in zip(every, charts, strict=True)
        ),
        element("h3", "What the theory assumes"),
        element("p", ASSUMED),
        bullets([own.rate.in_words() for why in every for own in why.sparsities if own.rate]),
    )


def _folder(why: Why, charts: Sequence[Chart], *, named: bool) -> list[Html | None]:
    paper = paper_values(why.record.data, why.record.model)
    title = (
        f"{why.record.name}: {workload_of(why.record)}" if named else str(workload_of(why.record))
    )
    return [
        element("h3", title),
        element("p", f"{state_in_words(why)}.", class_="fine"),
        bullets(answer_sentences(why)),
        notice("missing", "What is missing", why.missing),
        _quantities(why, paper),
        _predictions(why, paper) if why.predictions else None,
        *(chart_figure(chart, "h4") for chart in charts),
        _noise(why),
        _constants(why),
        element("p", _PAPER.format(steps=paper.steps), class_="fine") if paper else None,
    ]


def _quantities(why: Why, paper: PaperValues | None) -> Html:
    columns = ["Sparsity", "L, mean along training", "Standard error of L", "1/L", "Delta", "beta"]
    columns += ["L in the paper", "beta in the paper"] if paper else []
    rows = []
    for own in why.sparsities:
        summary = own.summary
        row = [
            sparsity_in_words(own.sparsity),
            _quantity(summary.lipschitz),
            significant(summary.lipschitz_error),
            significant(own.rate.limit if own.rate else None),
            _quantity(summary.delta),
            _quantity(summary.beta),
        ]
        if paper:
            row += [significant(paper.lipschitz.get(own.sparsity))]
            row += [significant(paper.beta.get(own.sparsity))]
        rows.append(row)
    caption = (
        "Smoothness and variance (mean ± standard deviation over seeds); Delta and beta are those "
        "of the initialization"
    )
    return table(caption, columns, rows)


def _predictions(why: Why, paper: PaperValues | None) -> Html:
    columns = (
        "Sparsity",
        "L ratio",
        "beta ratio",
        "Delta ratio",
        "c1 ratio, predicted",
        "Goal error",
        "c1 ratio, fitted",
        "K* ratio, mean over batch sizes",
        f"K* ratio at batch size {why.record.batch_size:,}",
        *(("c1 ratio in the paper, predicted",) if paper else ()),
    )
    rows = [
        [
            sparsity_in_words(prediction.sparsity),
            _estimate(prediction.lipschitz),
            _estimate(prediction.beta),
            _estimate(prediction.delta),
            _estimate(prediction.predicted),
            *_measured(measured),
            *((significant(paper.c1_ratio.get(prediction.sparsity)),) if paper else ()),
        ]
        for prediction in why.predictions
        for measured in (prediction.measured or (None,))
    ]
    caption = "Sparse over dense: predicted and measured, with 95% intervals"
    if not why.predictions[0].is_fixed:
        caption += "; the learning rate decays, so Delta is no factor of c1"
    made = "; ".join(dict.fromkeys(prediction.basis for prediction in why.predictions))
    note = element(
        "p", f"Intervals of L, beta, Delta and the prediction from: {made}.", class_="fine"
    )
    return together((table(caption, columns, rows), note))


def _measured(measured: Measured | None) -> list[str]:
    if measured is None:
        return [NOTHING, "not measured", NOTHING, NOTHING]
    fitted = _estimate(measured.c1) if measured.c1 else "not fitted"
    return [
        f"{measured.goal_error:g}",
        f"{fitted} (poor fit)" if measured.c1 and measured.is_poor else fitted,
        _estimate(measured.steps),
        _estimate(measured.steps_here),
    ]


def _noise(why: Why) -> Html:
    goals = sorted({goal for own in why.sparsities for goal, _ in own.noise.critical})
    columns = ["Sparsity", "Gradient noise scale (proxy)"]
    for goal in goals:
        columns += [f"c1/c2, goal {goal:g}", f"20% above ideal, goal {goal:g}"]
    rows = [
        [
            sparsity_in_words(own.sparsity),
            _estimate(own.noise.whole),
            *(
                _critical(own, goal, definition)
                for goal in goals
                for definition in (FROM_FIT, FROM_POINTS)
            ),
        ]
        for own in why.sparsities
    ]
    caption = (
        "A proxy of the critical batch size, tr(Sigma)/|G|² over the whole run, beside the "
        "measured one"
        if goals
        else "A proxy of the critical batch size: tr(Sigma)/|G|² over the whole run; none is "
        "measured on this workload to compare it with"
    )
    return table(caption, columns, rows)


def _critical(own: SparsityWhy, goal: float, definition: str) -> str:
    found = (c for g, c in own.noise.critical if (g, c.definition) == (goal, definition))
    critical = next(found, None)
    return critical.in_words() if critical else NOTHING


def _constants(why: Why) -> Html:
    columns = (
        "Sparsity",
        "Goal error",
        "Runs that arrived",
        "K",
        "eps",
        "eps~",
        "H*",
        "c1 of the bound",
        "c2 of the bound",
        f"K of the bound at batch size {why.record.batch_size:,}",
    )
    rows = []
    for own in why.sparsities:
        for goal in own.goals:
            found, known = goal.convergence, goal.constants
            rows.append(
                [
                    sparsity_in_words(own.sparsity),
                    f"{goal.goal_error:g}",
                    f"{goal.arrived} of {goal.runs}",
                    whole(found.steps if found else None),
                    significant(found.epsilon if found else None),
                    significant(found.weighted if found else None),
                    significant(found.h_star if found else None),
                    significant(known.c1 if known else None),
                    significant(known.c2 if known else None),
                    whole(known.steps(why.record.batch_size) if known else None),
                ]
            )
    inner = table(
        "The theory's constants; K is the first measured point at the goal", columns, rows
    )
    summary = element("summary", "The theory's constants themselves, a worst-case bound")
    return element("details", summary, inner)


def _quantity(quantity: Quantity | None) -> str:
    if quantity is None:
        return NOTHING
    spread = quantity.deviation
    return significant(quantity.mean) + ("" if spread is None else f" ± {significant(spread)}")


def _estimate(estimate: Estimate | None) -> str:
    if estimate is None:
        return NOTHING
    if estimate.interval.is_unbounded:
        return significant(estimate.value)
    return f"{significant(estimate.value)} {estimate.interval.brackets(significant)}"
