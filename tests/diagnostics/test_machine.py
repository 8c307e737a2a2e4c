# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics for other programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from jsonschema.validators import validator_for

from camkes.diagnostics import Code, Diagnostic, Label, Sink, SourceFile, Span
from camkes.diagnostics.rendering import Form, Style, render
from camkes.protocols import analyse
from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions
from tests.documents import conforming

pytestmark = pytest.mark.requirement("TOOL-3")

GOLDEN = Path(__file__).resolve().parents[1] / "protocols" / "golden"

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["physicalLocation"],
    "properties": {
        "id": {"type": "integer", "minimum": 0},
        "message": TEXT,
        "physicalLocation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["artifactLocation", "region"],
            "properties": {
                "artifactLocation": {
                    "type": "object",
                    "required": ["uri"],
                    "properties": {"uri": {"type": "string", "pattern": "^[-A-Za-z0-9._~/:%]+$"}},
                },
                "region": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        name: {"type": "integer", "minimum": 1}
                        for name in ("startLine", "startColumn", "endLine", "endColumn")
                    },
                },
            },
        },
    },
}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
STEP = {"type": "object", "required": ["location"], "properties": {"location": LOCATION}}
#: The part of the SARIF 2.1.0 schema that our logs use, stricter where ours are.
SARIF = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "runs", "$schema"],
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["tool", "results"],
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {"type": "string"},
                                    "version": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id", "help"],
                                            "properties": {
                                                "id": {"type": "string"},
                                                "name": {"type": "string", "pattern": "^[A-Z][A-Za-z]*$"},
                                                "shortDescription": TEXT,
                                                "help": TEXT,
                                                "defaultConfiguration": {
                                                    "type": "object",
                                                    "properties": {"level": LEVEL},
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["message", "ruleId", "ruleIndex", "level"],
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": LEVEL,
                                "message": TEXT,
                                "locations": {"type": "array", "items": LOCATION, "maxItems": 1},
                                "relatedLocations": {
                                    "type": "array",
                                    "uniqueItems": True,
                                    "items": {**LOCATION, "required": ["physicalLocation", "id", "message"]},
                                },
                                "codeFlows": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "type": "object",
                                        "required": ["threadFlows"],
                                        "properties": {
                                            "threadFlows": {
                                                "type": "array",
                                                "minItems": 1,
                                                "items": {
                                                    "type": "object",
                                                    "required": ["locations"],
                                                    "properties": {
                                                        "locations": {
                                                            "type": "array",
                                                            "minItems": 1,
                                                            "items": STEP,
                                                        }
                                                    },
                                                },
                                            }
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


def findings(name: str) -> tuple[Diagnostic, ...]:
    sink = Sink()
    system = load(GOLDEN / f"{name}.camkes", LoadOptions(cpp=False), sink)
    assert system is not None
    analyse(system, sink)
    return sink.diagnostics


def bad_files() -> list[Path]:
    """Every golden file of a mistake, in every package."""
    tests = GOLDEN.parents[1]
    folders = (tests / "parser/golden", tests / "resolve/bad", GOLDEN)
    return [path for folder in folders for path in sorted(folder.glob("*.camkes"))]


def log_of(path: Path) -> Any:
    """The SARIF log of a file, with all that resolving and planning find."""
    sink = Sink()
    system = load(path, LoadOptions(), sink)
    if system is not None:
        analyse(system, sink)
    return json.loads(render(sink.diagnostics, Style(Form.SARIF, base=path.parent)))


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize("path", bad_files(), ids=lambda path: f"{path.parent.parent.name}-{path.stem}")
def test_sarif_of_every_mistake(path: Path) -> None:
    log = log_of(path)
    Draft7Validator(SARIF).validate(log)
    if schema := os.environ.get("CAMKES_SARIF_SCHEMA"):  # the official one
        official = json.loads(Path(schema).read_text(encoding="utf-8"))
        validator_for(official)(official).validate(log)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["defaultConfiguration"]["level"] == result["level"]
        for place in [*result.get("locations", []), *result.get("relatedLocations", [])]:
            region = place["physicalLocation"]["region"]
            start, end = (tuple(region[f"{at}{n}"] for n in ("Line", "Column")) for at in ("start", "end"))
            assert start <= end


def test_every_walk_is_a_code_flow() -> None:
    walks = 0
    for path in GOLDEN.glob("*.camkes"):
        sink = Sink()
        system = load(path, LoadOptions(), sink)
        if system is not None:
            analyse(system, sink)
        results = json.loads(render(sink.diagnostics, Style(Form.SARIF)))["runs"][0]["results"]
        flows = [result for result in results if "codeFlows" in result]
        assert len(flows) == sum(d.is_walk for d in sink.diagnostics)
        for result in flows:
            (flow,) = result["codeFlows"]
            steps = flow["threadFlows"][0]["locations"]
            assert len(steps) == 1 + len(result.get("relatedLocations", []))
        walks += len(flows)
    assert walks > 3


def test_a_cycle_is_a_code_flow() -> None:
    log = json.loads(render(findings("deadlock"), Style(Form.SARIF, base=GOLDEN)))
    result = log["runs"][0]["results"][0]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    hops = [step["location"]["message"]["text"] for step in steps]
    assert [hop for hop in hops if hop[0].isdigit()] == [
        "1. `first.p` requests `second.p`",
        "2. `second.p` requests `third.p`",
        "3. `third.p` requests `first.p`",
    ]
    assert result["locations"][0] == steps[0]["location"]
    assert len(result["relatedLocations"]) == len(steps) - 1
    others = json.loads(render(findings("too_few_threads"), Style(Form.SARIF)))
    assert "codeFlows" not in others["runs"][0]["results"][0]


def test_sarif_uris_are_escaped() -> None:
    file = SourceFile(Path("/a b/ü#.camkes"), "x\n")
    diagnostic = Diagnostic(Code("E0501", "deadlock"), "wrong", Span(file, 1, 1, 1, 2))
    log = json.loads(render([diagnostic], Style(Form.SARIF)))
    Draft7Validator(SARIF).validate(log)
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "file:///a%20b/%C3%BC%23.camkes"


def test_json_has_all_parts_of_a_diagnostic() -> None:
    file = SourceFile(Path("a.camkes"), "one\ntwo\n")
    place = Span(file, 1, 1, 2, 3)
    code = Code("E0501", "deadlock")
    diagnostic = Diagnostic(code, "wrong", place, "here", (Label(place, "there"),), ("why",), "how", True)
    span = {"file": "a.camkes", "line": 1, "column": 1, "end_line": 2, "end_column": 3}
    warning = Diagnostic(Code("W0501", "unused-clause"), "hm")
    found = conforming("diagnostics", render([diagnostic, warning], Style(Form.JSON)))
    assert found["version"] == 1
    assert (found["errors"], found["warnings"]) == (1, 1)
    assert found["diagnostics"][0]["span"] is None
    assert found["diagnostics"][1] == {
        "code": "E0501",
        "name": "deadlock",
        "severity": "error",
        "message": "wrong",
        "span": span,
        "label": "here",
        "related": [{"span": span, "text": "there"}],
        "is_walk": True,
        "notes": ["why"],
        "help": "how",
    }
    assert json.loads(render([], Style(Form.JSON)))["diagnostics"] == []
