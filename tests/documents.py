# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""JSON documents against their schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from camkes.cli.commands.schemas import json_schema


def conforming(name: str, text: str) -> Any:
    """What a command printed, which is valid by its schema and has no fields that are not in it."""
    found = json.loads(text)
    _strict(name).validate(found)
    return found


@cache
def _strict(name: str) -> Draft202012Validator:
    schema = json_schema(name)
    for each in schema["$defs"].values():
        if "properties" in each:
            each["additionalProperties"] = False
            each["required"] = [key for key in each["properties"] if key in _always(each)]
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _always(struct: dict[str, Any]) -> set[str]:
    return {*struct.get("required", ()), *(k for k, v in struct["properties"].items() if "default" in v)}
