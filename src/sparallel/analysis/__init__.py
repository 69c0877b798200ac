"""From records to numbers: curves, fit, critical batch size, ratios and verdicts; no torch."""

from sparallel.analysis.analyse import analyse
from sparallel.analysis.interval import LEVEL, Interval
from sparallel.analysis.values import (
    FROM_FIT,
    FROM_POINTS,
    Analysis,
    BandPoint,
    BorderTouch,
    BorderVerdict,
    CriticalBatchSize,
    Curve,
    CurvePoint,
    Fit,
    Ratio,
    RatioPoint,
    Regimes,
    SubsetCurve,
    SubsetPoint,
    WorkloadKey,
    sparsity_in_words,
)

__all__ = [
    "FROM_FIT",
    "FROM_POINTS",
    "LEVEL",
    "Analysis",
    "BandPoint",
    "BorderTouch",
    "BorderVerdict",
    "CriticalBatchSize",
    "Curve",
    "CurvePoint",
    "Fit",
    "Interval",
    "Ratio",
    "RatioPoint",
    "Regimes",
    "SubsetCurve",
    "SubsetPoint",
    "WorkloadKey",
    "analyse",
    "sparsity_in_words",
]
