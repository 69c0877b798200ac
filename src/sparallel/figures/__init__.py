"""The paper's figures from records and analysis: a function makes the data, another draws it."""

from sparallel.figures.draw import draw_all

__all__ = ["draw_all"]
