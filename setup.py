"""The optional native kernels; everything else is in pyproject.toml."""

from pathlib import Path

from setuptools import Extension, setup

NATIVE = Path("src/sparallel/kernels/native")

setup(
    ext_modules=[
        Extension(
            "sparallel.kernels._native",
            sources=sorted(str(path) for path in NATIVE.glob("*.c")),
            depends=sorted(str(path) for path in NATIVE.glob("*.h")),
            extra_compile_args=["-O3", "-std=gnu11", "-Wno-psabi"],
            # Without a compiler the package still installs; sparse kernels are then off.
            optional=True,
        )
    ]
)
