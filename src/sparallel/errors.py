"""Every error a user can cause is one sentence, and one base class catches them all.

SparallelError                  exit status 2: what was asked, what is allowed, what to do
├── SpecError                   a preset, TOML file or option that cannot be right
├── DataError                   a data set that is missing, damaged or unreachable
└── StoreError                  an output folder that cannot be used
    ├── FolderBusyError         another run is writing to it
    ├── DifferentExperimentError    it belongs to another experiment
    └── DamagedStoreError       its records or checkpoints do not pass their checks
"""


class SparallelError(Exception):
    """Something the user can put right; the message is the sentence they see."""


class SpecError(SparallelError):
    """An experiment that is malformed, contradictory or out of range."""


class DataError(SparallelError):
    """A data set that is missing, damaged or unreachable."""


class StoreError(SparallelError):
    """An experiment folder that cannot be read or written."""


class FolderBusyError(StoreError):
    """Another run holds the experiment folder."""


class DifferentExperimentError(StoreError):
    """The folder belongs to an experiment that differs in more than its extent."""


class DamagedStoreError(StoreError):
    """Records or checkpoints that do not pass their checks."""
