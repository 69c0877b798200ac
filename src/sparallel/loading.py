"""From a preset's name or a TOML file to an experiment: inheritance, overrides, clear errors."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from sparallel.errors import SpecError
from sparallel.presets import SUFFIX, preset_names, preset_text
from sparallel.registry import unknown
from sparallel.spec import Experiment

Table = dict[str, Any]


def load_spec(
    source: str, changes: Mapping[str, object] | None = None, settings: Sequence[str] = ()
) -> Experiment:
    """The experiment named or written in `source`, changed by options and by key=value settings."""
    table = _resolve(source, ())
    for key, value in (changes or {}).items():
        if value is not None:
            table[key] = value
    for setting in settings:
        _set(table, setting)
    return validate(table, source)


def validate(table: Mapping[str, object], source: str) -> Experiment:
    """The experiment a table describes, or a sentence that says what is wrong with it."""
    try:
        return Experiment.model_validate(table)
    except ValidationError as error:
        # A list whose only item is refused also counts as too short: the item says it better.
        errors = error.errors()
        told = [one for one in errors if one["type"] != "too_short"] or errors
        problems = "; ".join(_problem(one) for one in told)
        raise SpecError(f"The experiment {source!r} cannot be run: {problems}.") from error


def _problem(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "missing":
        return f"{place} is missing"
    if error["type"] == "extra_forbidden":
        allowed = ", ".join(Experiment.model_fields)
        return f"there is no key {place!r} (the keys are {allowed})"
    if error["type"] == "value_error":
        return f"{place} {message}" if place else message
    return f"{place} = {error['input']!r}: {message[0].lower()}{message[1:]}"


def _resolve(source: str, seen: tuple[str, ...]) -> Table:
    """The table of a preset or file, on top of whatever it extends."""
    if source in seen:
        raise SpecError(
            f"The experiment {source!r} extends itself: {' -> '.join((*seen, source))}."
        )
    table = _parse(_text(source), source)
    base = table.pop("extends", None)
    if base is None:
        return table
    if not isinstance(base, str):
        raise SpecError(f"In {source!r}, extends = {base!r} must be a preset's name or a file's.")
    if _is_file_name(base) and _is_file_name(source):
        base = str(Path(source).parent / base)
    return _merge(_resolve(base, (*seen, source)), table)


def _is_file_name(source: str) -> bool:
    return source.endswith(SUFFIX) or "/" in source


def _text(source: str) -> str:
    if source in preset_names():
        return preset_text(source)
    if not _is_file_name(source):
        raise unknown("preset", source, preset_names(), or_else=" or give the path of a .toml file")
    try:
        return Path(source).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise SpecError(
            f"There is no file {source!r}; presets are listed by 'sparallel list'."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"The file {source!r} cannot be read: {error}.") from error


def _parse(text: str, source: str) -> Table:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"The file {source!r} is not valid TOML: {error}.") from error


def _merge(base: Table, changes: Table) -> Table:
    """`changes` on top of `base`; tables are merged key by key, everything else is replaced."""
    merged = dict(base)
    for key, value in changes.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = _merge(below, value)
        else:
            merged[key] = value
    return merged


def _set(table: Table, setting: str) -> None:
    """Apply one key=value, the key dotted as in TOML, the value as TOML or else as a word."""
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise SpecError(f"--set takes key=value, for example race.finishers=3, not {setting!r}.")
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text
    *path, last = key.strip().split(".")
    for part in path:
        table = table.setdefault(part, {})
        if not isinstance(table, dict):
            raise SpecError(f"--set {setting!r}: {part} is a value, so it has no key {last!r}.")
    table[last] = value
