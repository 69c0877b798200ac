"""Where things are kept that can always be made again."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_folder() -> Path:
    """SPARALLEL_CACHE, or the user's own cache folder."""
    chosen = os.environ.get("SPARALLEL_CACHE")
    return Path(chosen) if chosen else platformdirs.user_cache_path("sparallel")
