"""Validation against a JSON schema: quick for the flat ones that tools have, complete for all.

A schema that uses only the keywords handled here is checked here, in microseconds and without an
import; any other goes to the `jsonschema` library, whose import alone costs a tenth of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["complaints"]

_ANNOTATIONS = frozenset(("type", "description", "title", "default", "examples"))
_OBJECT = _ANNOTATIONS | {"properties", "required", "additionalProperties"}
_VALUE = _ANNOTATIONS | {"enum", "items"}


def _is_integer(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def complaints(schema: Mapping[str, Any], arguments: dict[str, Any]) -> list[str]:
    """Return what is wrong with the arguments, each in a few words; nothing when they fit."""
    properties = schema.get("properties") or {}
    found = [
        f"{name!r} is required" for name in schema.get("required") or () if name not in arguments
    ]
    if properties and not schema.get("additionalProperties"):
        known = ", ".join(properties)
        found += [
            f"{name!r} is not a parameter (there are: {known})"
            for name in arguments if name not in properties
        ]  # fmt: skip
    if found:
        return found
    if not _is_flat(schema, properties):
        return _complete(schema, arguments)
    for name, value in arguments.items():
        wrong = _value_complaint(properties.get(name, {}), value)
        if wrong:
            found.append(f"{name!r} {wrong}")
    return found


def _is_flat(schema: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
    flag = isinstance(schema.get("additionalProperties", False), bool)
    return flag and schema.keys() <= _OBJECT and all(map(_is_simple, properties.values()))


def _is_simple(schema: Any) -> bool:
    if not isinstance(schema, Mapping) or not schema.keys() <= _VALUE:
        return False
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    if not all(k is None or k in _TYPES for k in kinds):
        return False
    return "items" not in schema or _is_simple(schema["items"])


def _value_complaint(schema: Mapping[str, Any], value: Any) -> str | None:
    kind = schema.get("type")
    if kind is not None:
        kinds = kind if isinstance(kind, list) else [kind]
        if not any(_TYPES[k](value) for k in kinds):
            return f"must be of type {' or '.join(kinds)}, not {value!r:.80}"
    if "enum" in schema and not any(_equal(value, option) for option in schema["enum"]):
        options = ", ".join(repr(option) for option in schema["enum"])
        return f"must be one of {options}, not {value!r:.80}"
    if "items" in schema and isinstance(value, list):
        for index, item in enumerate(value):
            wrong = _value_complaint(schema["items"], item)
            if wrong:
                return f"item {index} {wrong}"
    return None


def _equal(value: Any, option: Any) -> bool:
    """Compare as JSON does: true is not 1."""
    return isinstance(value, bool) == isinstance(option, bool) and bool(value == option)


def _complete(schema: Mapping[str, Any], arguments: dict[str, Any]) -> list[str]:
    import jsonschema
    import referencing

    # An empty registry: a reference to somewhere else is never fetched.
    validator_class = jsonschema.validators.validator_for(dict(schema))
    validator = validator_class(dict(schema), registry=referencing.Registry())
    found = []
    try:
        for error in validator.iter_errors(arguments):
            where = ".".join(map(str, error.absolute_path)) or "the arguments"
            found.append(f"{where!r}: {error.message[:200]}")
    except RecursionError:
        raise
    except Exception as error:  # noqa: BLE001 - a schema of somebody else's can be any nonsense
        return [f"the tool's own schema cannot be used: {str(error)[:200]}"]
    return sorted(found)
