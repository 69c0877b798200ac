"""From the records of one or more experiments to everything that is said about them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sparallel.analysis.answer import answer
from sparallel.analysis.border import border_verdict
from sparallel.analysis.critical import critical_from_fit, critical_from_points
from sparallel.analysis.curves import CurveKey, Source, curve_key, curve_points, gather, select
from sparallel.analysis.fit import fit_from_profile, fit_profile, why_not_fitted
from sparallel.analysis.noise import Noise, observe, rerun_spread
from sparallel.analysis.profile import Profile
from sparallel.analysis.ratio import ratio
from sparallel.analysis.regimes import TOLERANCE, regimes
from sparallel.analysis.subsets import subset_curve
from sparallel.analysis.values import Analysis, CriticalBatchSize, Curve, Ratio
from sparallel.records import ExperimentRecord


def analyse(experiments: Sequence[ExperimentRecord]) -> Analysis:
    """Everything the records say; unfinished studies are left out, and named as missing."""
    gathered = gather(experiments)
    every = [source for sources in gathered.values() for source in sources]
    curves = tuple(_curve(key, sources) for key, sources in gathered.items())
    ratios = _ratios(curves)
    borders = tuple(v for v in map(border_verdict, every) if v is not None)
    subsets = tuple(
        s
        for source in every
        if (s := subset_curve(source.study, curve_key(source).workload, source.experiment))
    )
    warnings = [f"{c.label}: {w}" for c in curves for w in c.warnings]
    warnings += [f"{r.label}: {w}" for r in ratios for w in r.warnings]
    return Analysis(
        curves=curves,
        ratios=ratios,
        borders=borders,
        subsets=subsets,
        answer=answer(curves, ratios),
        warnings=tuple(warnings),
        missing=tuple(
            _missing(key, sources)
            for key, sources in gathered.items()
            if not all(s.study.finished for s in sources)
        ),
    )


def _curve(key: CurveKey, sources: Sequence[Source]) -> Curve:
    chosen, warnings = select(sources)
    studies = [source.study for source in chosen]
    observations = [observe(study) for study in studies]
    spread = rerun_spread(studies)
    profile = fit_profile(observations, spread)
    noise: Noise | None = None
    critical: list[CriticalBatchSize] = []
    fit = None
    if profile is not None:
        fit = fit_from_profile(profile)
        noise = Noise(fit.sigma, fit.degrees_of_freedom)
        critical.append(critical_from_fit(profile))
        if fit.is_poor:
            warnings.append(fit.goodness)
    elif observations:
        reason = why_not_fitted(observations, spread)
        warnings += [reason] if reason is not None else []
        if spread.degrees_of_freedom:
            sigma = (spread.squares / spread.degrees_of_freedom) ** 0.5
            noise = Noise(sigma, spread.degrees_of_freedom)
    from_points = critical_from_points(observations, noise)
    critical += [from_points] if from_points is not None else []
    warnings += [c.warning for c in critical if c.warning is not None]
    warnings += _late_start(profile, [o.batch_size for o in observations if o.steps])
    sizes = [study.batch_size for study in studies]
    return Curve(
        workload=key.workload,
        goal_error=key.goal_error,
        sparsity=key.sparsity,
        points=curve_points(chosen, noise),
        fit=fit,
        critical=tuple(critical),
        regimes=None if fit is None else regimes(critical[0], sizes),
        warnings=tuple(dict.fromkeys(warnings)),
        pruning=key.pruning,
        noise=noise,
    )


def _late_start(profile: Profile | None, sizes: Sequence[int]) -> list[str]:
    """Ideal scaling is drawn from the first point: it misleads if that point is already bent."""
    if profile is None or not sizes:
        return []
    if math.log(min(sizes)) - profile.theta <= math.log(TOLERANCE):
        return []
    return [
        f"The smallest measured batch size ({min(sizes)}) is by the fit already past linear "
        "scaling, so ideal scaling drawn from it, and the 20% definition, come out too late: "
        "try smaller batch sizes."
    ]


def _ratios(curves: Sequence[Curve]) -> tuple[Ratio, ...]:
    dense = {(c.workload, c.goal_error): c for c in curves if c.sparsity == 0}
    pairs = [(c, dense.get((c.workload, c.goal_error))) for c in curves if c.sparsity != 0]
    return tuple(ratio(sparse, base) for sparse, base in pairs if base is not None)


def _missing(key: CurveKey, sources: Sequence[Source]) -> str:
    sizes = sorted({s.study.batch_size for s in sources if not s.study.finished})
    names = ", ".join(map(str, sizes))
    plural = "s" if len(sizes) > 1 else ""
    return f"{key}: not finished and left out: batch size{plural} {names}."
