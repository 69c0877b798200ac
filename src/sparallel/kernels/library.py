"""The compiled kernels, where they were built; without them the package runs on dense layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparallel.errors import SparallelError

if TYPE_CHECKING:
    from sparallel.kernels import _native

    native = _native
    _reason = ""
else:
    try:
        from sparallel.kernels import _native as native

        _reason = ""
    except ImportError as error:
        native = None
        _reason = (
            str(error)
            if "SPARALLEL_KERNELS" in str(error)
            else "the native kernels are not built: install a C compiler and sparallel again"
        )


class KernelsError(SparallelError):
    """Sparse kernels were asked for where they cannot run."""


def available() -> bool:
    """Whether sparse kernels can run here."""
    return native is not None


def why_not() -> str:
    """Why sparse kernels cannot run here, as half a sentence; empty where they can."""
    return _reason


def instruction_set() -> str:
    """The instruction set the kernels use here ("avx2", ...); "" without kernels.

    Results agree between instruction sets as two seeds would, not to the bit.
    """
    return native.INSTRUCTION_SET if available() else ""
