"""From pydantic's account of a mistake to one sentence: the field at fault, and what is allowed there."""

import json
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

Path = tuple[str | int, ...]
Schema = dict[str, Any]

TAGS = {"type": "set", "name": "entropy_bound"}
"""The fields that say which of a union an object is, with what it is where it does not say."""

SHOWN = 40
"""The most characters of a wrong value that are shown."""


def explain(
    error: ValidationError, data: object, schema: Schema, prefix: Path = (), count: int = 0
) -> tuple[str | None, str]:
    """Field (dotted, none for the whole) and sentence for the first mistake, with the number of further ones.

    data: what was validated, as parsed from JSON; schema: the JSON schema of what is allowed; prefix: where in the
    client's message `data` stands; count: of all mistakes, where `error` has only some.
    """
    mistakes = error.errors(include_url=False)
    first = mistakes[0]
    kind, loc = first["type"], first["loc"]
    if not isinstance(data, dict):
        return None, f"The message must be a JSON object, not {_shown(data)}."
    root = schema
    if "discriminator" in schema:
        kinds: dict[str, str] = schema["discriminator"]["mapping"]
        if not isinstance(data.get("type"), str) or data["type"] not in kinds:
            allowed = _listed(json.dumps(name) for name in kinds)
            what = f"not {_shown(data['type'])}" if "type" in data else "but is missing"
            return "type", f"type must be one of {allowed}, {what}."
        root = {"$ref": kinds[data["type"]]}
        loc = loc[1:]
    defs = schema.get("$defs", {})
    path = _path(loc, data, kind, root, defs)
    field = dotted((*prefix, *path)) or None
    sentence = _sentence(first, field, _find(root, path, defs, data), _find(root, path[:-1], defs, data), defs)
    more = max(count, len(mistakes)) - 1
    return field, sentence + (f" ({more} more mistake{'s' if more > 1 else ''} in this message.)" if more else "")


def dotted(path: Path) -> str:
    """`recipe.messages.0.content`."""
    return ".".join(_cut(str(part)) for part in path)


def _path(loc: Path, data: object, kind: str, root: Schema, defs: Schema) -> Path:
    """`loc` without the tags of unions, which are not in the data (though a field may have the name of one)."""
    path: list[str | int] = []
    whole, tagged = data, False
    for index, part in enumerate(loc):
        node = None if tagged else _find(root, tuple(path), defs, whole, every=True)
        tagged = node is not None and "oneOf" in node
        if tagged:
            continue
        is_there = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int) and part < len(data)
        )
        if is_there:
            data = data[part]  # type: ignore[index]
            path.append(part)
        elif kind == "missing" and index == len(loc) - 1:
            path.append(part)
    if kind == "union_tag_invalid":
        node = _find(root, tuple(path), defs, whole, every=True) or {}
        path.append(_union(node.get("oneOf", []), defs)[0])
    return tuple(path)


def _union(options: list[Schema], defs: Schema) -> tuple[str, list[Any]]:
    """The field that tells the options of a union apart, and what it is in each."""
    kinds: list[Any] = []
    for field in TAGS:
        kinds = [_resolved(option, defs).get("properties", {}).get(field, {}).get("const") for option in options]
        if any(kinds):
            return field, kinds
    return "type", kinds


def _sentence(mistake: Any, field: str | None, node: Schema | None, parent: Schema | None, defs: Schema) -> str:
    subject = field or "The message"
    match mistake["type"]:
        case "value_error":
            reason = str(mistake["ctx"]["error"])
            return f"{field}: {reason}." if field else f"{reason[:1].upper()}{reason[1:]}."
        case "json_invalid":
            return f"The frame is not valid JSON: {mistake['ctx']['error']}."
        case "extra_forbidden":
            names = _listed(_fields(parent, defs) if parent else ())
            return f"{subject} is not known" + (f"; allowed here: {names}." if names else ".")
        case "missing":
            return f"{subject} is missing" + (f"; it must be {_allowed(node, defs)}." if node else ".")
    if node is None:
        return f"{subject}: {mistake['msg']}."
    given = mistake["input"]
    if mistake["type"] == "union_tag_invalid" and field is not None:
        given = given[field.rsplit(".", 1)[-1]]
    return f"{subject} must be {_allowed(node, defs)}, not {_shown(given)}."


def _find(node: Schema, path: Path, defs: Schema, data: Any, every: bool = False) -> Schema | None:
    """The part of a schema that a path into the data leads to; `every` keeps a union at its end whole."""
    node = _resolved(node, defs)
    if options := node.get("anyOf") or node.get("oneOf"):
        if not path and every:
            return node
        field, kinds = _union(options, defs)
        said = data.get(field, TAGS[field]) if isinstance(data, dict) else TAGS[field]
        fitting = [option for option, kind in zip(options, kinds, strict=True) if kind and kind == said]
        if path == (field,) and not fitting:
            return {"enum": list(dict.fromkeys(kind for kind in kinds if kind))}
        node, options = {"anyOf": fitting} if fitting else node, fitting or options
        if path:
            found = (_find(option, path, defs, data, every) for option in options)
            return next((each for each in found if each is not None), None)
    if not path:
        return node
    below = node.get("items") if isinstance(path[0], int) else node.get("properties", {}).get(path[0])
    return None if below is None else _find(below, path[1:], defs, _below(data, path[0]), every)


def _below(data: Any, part: str | int) -> Any:
    try:
        return data[part]
    except (LookupError, TypeError):
        return None


def _fields(node: Schema, defs: Schema) -> list[str]:
    node = _resolved(node, defs)
    options = node.get("anyOf") or node.get("oneOf") or ()
    return [*node.get("properties", ()), *(name for option in options for name in _fields(option, defs))]


def _resolved(node: Schema, defs: Schema) -> Schema:
    return defs[node["$ref"].rsplit("/", 1)[-1]] if "$ref" in node else node


def _allowed(node: Schema, defs: Schema) -> str:
    """What a schema allows, in plain words."""
    node = _resolved(node, defs)
    if options := node.get("anyOf") or node.get("oneOf"):
        nullable = "default" not in node
        return " or ".join(_allowed(option, defs) for option in options if option.get("type") != "null" or nullable)
    if "const" in node:
        return json.dumps(node["const"])
    if "enum" in node:
        return "one of " + _listed(json.dumps(value) for value in node["enum"])
    match node.get("type"):
        case "number":
            return "a number" + _range(node)
        case "integer":
            return "a whole number" + _range(node)
        case "string":
            return "text" + _count(node.get("minLength"), node.get("maxLength"), "characters")
        case "array":
            return "a list" + _count(node.get("minItems"), node.get("maxItems"), "entries")
        case "object":
            return "an object" + (f" with the fields {_listed(node['properties'])}" if node.get("properties") else "")
        case "boolean":
            return "true or false"
        case "null":
            return "null"
    return "something else"


def _range(node: Schema) -> str:
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f" from {_number(low)} to {_number(high)}"
    bounds = [
        f"{words} {_number(bound)}"
        for words, bound in (("above", above), ("of at least", low), ("below", below), ("up to", high))
        if bound is not None
    ]
    return f" {' and '.join(bounds)}" if bounds else ""


def _count(low: int | None, high: int | None, what: str) -> str:
    if low and high:
        return f" of {low} to {high} {what}"
    if low:
        return f" of at least {low} {what}"
    return f" of at most {high} {what}" if high else ""


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:g}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    text = text.encode(errors="replace").decode()
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
