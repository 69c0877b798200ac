"""A name, or "module:attribute", becomes the thing it names; an error lists the choices."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar, cast

from sparallel.errors import SpecError

Thing = TypeVar("Thing")


def unknown(kind: str, name: str, choices: Iterable[str], *, or_else: str = "") -> SpecError:
    """The error for a name nobody registered: the choices, and the nearest one."""
    names = sorted(choices)
    near = difflib.get_close_matches(name, names, n=1)
    suggestion = f" Did you mean {near[0]!r}?" if near else ""
    return SpecError(
        f"There is no {kind} {name!r}: choose from {', '.join(names)}{or_else}.{suggestion}"
    )


class Registry(Generic[Thing]):
    """Named parts of one kind, imported only when they are used."""

    def __init__(self, kind: str, places: Mapping[str, str], needs: Iterable[str]) -> None:
        self.kind = kind
        self._places = places
        self._needs = tuple(needs)  # the attributes a user's own part must have

    def names(self) -> tuple[str, ...]:
        """The registered names, sorted."""
        return tuple(sorted(self._places))

    def check(self, name: str) -> str:
        """The name, where something answers to it; registered parts are not imported for this."""
        if name not in self._places:
            self.get(name)
        return name

    def get(self, name: str) -> Thing:
        """The part called `name`, or a user's own named as "module:attribute"."""
        place = self._places.get(name, name)
        if ":" not in place:
            raise unknown(
                self.kind, name, self._places, or_else=" or name your own as module:attribute"
            )
        module_name, _, attribute = place.partition(":")
        try:
            module = importlib.import_module(module_name)
        except Exception as error:  # a user's module may raise anything
            raise SpecError(
                f"The {self.kind} {name!r} cannot be imported ({type(error).__name__}: {error}); "
                "check that its module is right, and installed or on PYTHONPATH."
            ) from error
        if not hasattr(module, attribute):
            raise SpecError(
                f"The {self.kind} {name!r} is not there: "
                f"module {module_name} has no attribute {attribute!r}."
            )
        found = getattr(module, attribute)
        lacking = [need for need in self._needs if not hasattr(found, need)]
        if lacking:
            raise SpecError(
                f"{name!r} is no {self.kind}: it has no {' and no '.join(lacking)} "
                f"(see those of sparallel for an example)."
            )
        return cast(Thing, found)
