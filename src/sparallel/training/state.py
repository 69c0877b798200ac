"""The state of a trial, and its bytes on disk."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparallel.errors import DamagedStoreError

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class TrialState:
    """All that the rest of a trial depends on, as plain arrays.

    The data order needs no place here: it follows from the trial's seed and the step.
    """

    step: int
    parameters: Floats  # flat
    slots: Floats  # the optimizer's memory: one row a slot
    mask: NDArray[np.bool_] | None  # kept parameters; None where nothing is pruned
    margins: Floats  # of every validation example, as this trial lately saw them
    reached: tuple[int | None, ...]  # K of every goal reached so far
    infeasible_at: int | None  # the check that saw it diverge

    @property
    def ended(self) -> bool:
        """Nothing more can happen to it: every goal is reached, or it has diverged."""
        return self.infeasible_at is not None or None not in self.reached

    @classmethod
    def first(
        cls,
        parameters: Floats,
        mask: NDArray[np.bool_] | None,
        slots: int,
        margins: Floats,
        goals: int,
    ) -> TrialState:
        """The state before the first step; pruned parameters are exactly zero."""
        return cls(
            step=0,
            parameters=parameters if mask is None else np.where(mask, parameters, np.float32(0)),
            slots=np.zeros((slots, len(parameters)), dtype=np.float32),
            mask=mask,
            margins=margins,
            reached=(None,) * goals,
            infeasible_at=None,
        )

    def to_bytes(self) -> bytes:
        """An npz archive without pickles; of a pruned trial only the kept values."""
        mask = np.ones(len(self.parameters), np.bool_) if self.mask is None else self.mask
        stream = io.BytesIO()
        np.savez(
            stream,
            step=np.int64(self.step),
            parameters=self.parameters[mask],
            slots=self.slots[:, mask],
            pruned=np.bool_(self.mask is not None),
            mask=np.packbits(mask),
            size=np.int64(len(self.parameters)),
            margins=self.margins,
            reached=np.array([-1 if at is None else at for at in self.reached], dtype=np.int64),
            infeasible_at=np.int64(-1 if self.infeasible_at is None else self.infeasible_at),
        )
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, raw: bytes) -> TrialState:
        """The state that `to_bytes` wrote."""
        try:
            with np.load(io.BytesIO(raw), allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            size = int(arrays["size"])
            mask = np.unpackbits(arrays["mask"], count=size).astype(np.bool_)
            parameters = np.zeros(size, dtype=np.float32)
            parameters[mask] = arrays["parameters"]
            slots = np.zeros((len(arrays["slots"]), size), dtype=np.float32)
            slots[:, mask] = arrays["slots"]
            infeasible_at = int(arrays["infeasible_at"])
            return cls(
                step=int(arrays["step"]),
                parameters=parameters,
                slots=slots,
                mask=mask if bool(arrays["pruned"]) else None,
                margins=arrays["margins"],
                reached=tuple(None if at < 0 else int(at) for at in arrays["reached"]),
                infeasible_at=None if infeasible_at < 0 else infeasible_at,
            )
        except (ValueError, KeyError, OSError, EOFError) as error:
            raise DamagedStoreError(f"a checkpoint cannot be read: {error}") from error
