"""Tools from typed functions: name, description and schema come from signature and docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, get_type_hints

from ..errors import ConfigError, ToolError
from ..runtime import Runtime
from .spec import Effect, Tool

__all__ = ["tool_from_function"]

RUNTIME_NAMES = ("rt", "runtime")


def tool_from_function(
    func: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = Effect.IRREVERSIBLE,
) -> Tool:
    """Return the tool that a typed function describes.

    A first parameter called ``rt`` or ``runtime``, or of the type `Runtime`, gets the agent's
    runtime; all others are the model's. What the docstring says of a parameter becomes its description in the schema.
    """
    parameters = list(inspect.signature(func).parameters.values())
    title = str(name or getattr(func, "__name__", type(func).__name__))
    hints = _hints(title, _written(func))
    takes_runtime = bool(parameters) and _is_runtime(parameters[0].name, hints)
    fields = _fields(title, hints, parameters[1:] if takes_runtime else parameters)
    summary, notes = _docstring(func)
    model = _model(title, fields, notes)
    schema = _without_titles(_schema(title, model))
    schema.setdefault("properties", {})
    return Tool(
        name=title,
        description=str(description or summary or title),
        parameters=schema,
        func=func,
        effect=effect,
        takes_runtime=takes_runtime,
        check=_checker(model),
    )


def _hints(title: str, func: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(func, include_extras=True)
    except NameError:
        pass
    try:  # `Runtime` is often imported for type checkers alone
        return get_type_hints(func, localns={"Runtime": Runtime}, include_extras=True)
    except NameError as error:
        raise ConfigError(
            f"tool {title} has a type that is not known when it is registered: {error}; "
            "import it outside of `if TYPE_CHECKING`"
        ) from None


def _is_runtime(name: str, hints: dict[str, Any]) -> bool:
    return name in RUNTIME_NAMES or hints.get(name) is Runtime


def _fields(
    title: str, hints: dict[str, Any], parameters: list[inspect.Parameter]
) -> dict[str, tuple[Any, Any]]:
    fields: dict[str, tuple[Any, Any]] = {}
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigError(
                f"tool {title} has the parameter {parameter}: "
                "a model passes arguments by name, give each of them its own parameter"
            )
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints.get(parameter.name, Any), default)
    return fields


def _written(func: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that a callable comes down to: it has the types and the docstring."""
    if isinstance(func, partial):
        return _written(func.func)
    return func if inspect.isroutine(func) else type(func).__call__


def _docstring(func: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    import docstring_parser

    parsed = docstring_parser.parse(inspect.getdoc(_written(func)) or "")
    parts = (parsed.short_description, parsed.long_description)
    notes = {p.arg_name: " ".join(p.description.split()) for p in parsed.params if p.description}
    return "\n".join(part for part in parts if part), notes


def _model(title: str, fields: dict[str, tuple[Any, Any]], notes: dict[str, str]) -> Any:
    import pydantic

    described = {
        # Pydantic keeps names with an underscore in front to itself: the alias brings them back.
        f"field_{index}": (hint, pydantic.Field(default, alias=name, description=notes.get(name)))
        for index, (name, (hint, default)) in enumerate(fields.items())
    }
    config = pydantic.ConfigDict(extra="forbid", arbitrary_types_allowed=True)
    return pydantic.create_model(title, __config__=config, **described)  # type: ignore[call-overload]


def _schema(title: str, model: Any) -> dict[str, Any]:
    import pydantic

    try:
        schema: dict[str, Any] = model.model_json_schema()
    except pydantic.errors.PydanticInvalidForJsonSchema as error:
        raise ConfigError(
            f"tool {title} has a parameter that JSON cannot express: {error.message}; "
            "give it a type such as str, int, list, a dataclass or a pydantic model"
        ) from None
    return schema


def _checker(model: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def check(arguments: dict[str, Any]) -> dict[str, Any]:
        import pydantic

        try:
            checked = model.model_validate(arguments)
        except pydantic.ValidationError as error:
            raise ToolError("; ".join(map(_complaint, error.errors()))) from None
        names = {field: info.alias for field, info in model.model_fields.items()}
        given = checked.model_fields_set
        return {names[field]: getattr(checked, field) for field in names if field in given}

    return check


def _complaint(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "the arguments"
    if error["type"] == "missing":
        return f"{where!r} is required"
    if error["type"] == "extra_forbidden":
        return f"{where!r} is not a parameter"
    return f"{where!r}: {error['msg'][:1].lower()}{error['msg'][1:]}, not {error['input']!r:.80}"


def _without_titles(schema: Any) -> Any:
    """Drop the titles that pydantic writes: they say nothing, and each costs tokens."""
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {k: v for k, v in schema.items() if not (k == "title" and isinstance(v, str))}
    return {
        key: {n: _without_titles(p) for n, p in part.items()}
        if key in ("properties", "$defs") and isinstance(part, dict)
        else _without_titles(part)
        for key, part in kept.items()
    }
