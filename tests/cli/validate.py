"""Checks JSON against a schema of this repository: the part of JSON Schema (draft 7) that the schemas use, so that
the tests need no package for it. A word it does not know is an error, never passed over. Where the package
jsonschema is installed it must agree."""
import json
import os
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
NOTES = {"$schema", "$id", "title", "description", "definitions"}
WORDS = {"type", "const", "enum", "required", "properties", "additionalProperties", "items", "minItems", "minimum", "maximum",
         "pattern", "dependencies", "$ref", "anyOf"}


def is_a(value, name):
    if name in ("integer", "number"):
        kinds = int if name == "integer" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def check(whole, schema, value, where="$"):
    if isinstance(schema, bool):
        assert schema, f"{where}: not allowed"
        return
    assert set(schema) <= NOTES | WORDS, f"a schema uses {set(schema) - NOTES - WORDS}"
    if "$ref" in schema:
        target = whole
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        check(whole, target, value, where)
    if "anyOf" in schema:
        wrong = []
        for form in schema["anyOf"]:
            try:
                check(whole, form, value, where)
                break
            except AssertionError as error:
                wrong.append(str(error))
        else:
            raise AssertionError(f"{where}: no form fits: {wrong}")
    if "type" in schema:
        names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
        assert any(is_a(value, name) for name in names), f"{where}: {value!r} is no {names}"
    assert "const" not in schema or same(value, schema["const"]), f"{where}: {value!r}"
    assert "enum" not in schema or any(same(value, one) for one in schema["enum"]), f"{where}: {value!r}"
    if is_a(value, "number"):
        assert value >= schema.get("minimum", value) and value <= schema.get("maximum", value), f"{where}: {value!r}"
    if isinstance(value, str):
        assert re.search(schema.get("pattern", ""), value), f"{where}: {value!r}"
    if isinstance(value, list):
        assert len(value) >= schema.get("minItems", 0), f"{where}: too short"
        for i, item in enumerate(value):
            check(whole, schema.get("items", True), item, f"{where}[{i}]")
    if isinstance(value, dict):
        for key in schema.get("required", []):
            assert key in value, f"{where}: {key} is missing"
        for key, others in schema.get("dependencies", {}).items():
            assert key not in value or all(other in value for other in others), f"{where}: {key} needs {others}"
        for key, item in value.items():
            rule = schema.get("properties", {}).get(key, schema.get("additionalProperties", True))
            check(whole, rule, item, f"{where}.{key}")


def load(source, name):
    with open(os.path.join(source, "docs/schemas", name)) as f:
        return json.load(f)


def validate(schema, data):
    check(schema, schema, data)
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(data)
