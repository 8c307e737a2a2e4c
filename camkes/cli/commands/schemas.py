# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about JSON documents: schema."""

from __future__ import annotations

import argparse
import json
import sys
from importlib import import_module
from typing import Any, NamedTuple

import msgspec

from camkes.cli.arguments import Command
from camkes.cli.output import GOOD


class JsonDocument(NamedTuple):
    """A JSON document: what writes it, and its type in a module; `listed`: it is a list of those."""

    written_by: str
    module: str
    struct: str
    listed: bool = False

    def kind(self) -> type:
        found: type = getattr(import_module(f"camkes.{self.module}"), self.struct)
        return found


#: All JSON documents for other programs, by the names of their schemas.
DOCUMENTS = {
    "new": JsonDocument("camkes new --json", "cli.commands.projects", "NewReport"),
    "new-component": JsonDocument(
        "camkes new component NAME --json", "cli.commands.projects", "NewComponentReport"
    ),
    "stubs": JsonDocument("camkes stubs --json", "cli.commands.projects", "StubsReport", True),
    "export": JsonDocument("camkes export --json", "cli.commands.exports", "ExportReport"),
    "diagnostics": JsonDocument(
        "camkes check --json, any command --format json", "diagnostics.rendering.machine", "DiagnosticsReport"
    ),
    "plan": JsonDocument("camkes plan --json", "showing.plan_json", "PlanReport"),
    "authority": JsonDocument("camkes plan --authority --json", "capdl.authority", "HoldingReport", True),
    "size": JsonDocument("camkes size --json", "showing.sizes", "SizeReport"),
    "analyze": JsonDocument("camkes analyze --json", "showing.analysis_json", "AnalysisReport"),
    "certificate": JsonDocument(
        "camkes analyze --certificate, each line", "analysis.certificate", "CertificateLine"
    ),
    "slots": JsonDocument("camkes schedule --json", "cli.commands.schedules", "ProposedSlotsReport"),
    "measure": JsonDocument("camkes measure --json", "cli.commands.measurements", "MeasureReport"),
    "measure-platform": JsonDocument("camkes measure --platform --json", "cli.machines", "PlatformReport"),
    "paths": JsonDocument("camkes paths --json", "showing.paths", "PathsReport"),
    "run": JsonDocument("camkes run --json, camkes watch --json", "showing.summary", "RunReport"),
    "compare": JsonDocument("camkes compare --json", "cli.commands.comparisons", "ComparisonReport"),
    "test": JsonDocument("camkes test --json", "testing.reports", "TestsReport"),
    "explore": JsonDocument("camkes explore --json", "exploration", "ExploreReport"),
    "sweep": JsonDocument("camkes sweep --json", "sweep.reports", "SweepReport"),
    "sweep-row": JsonDocument("camkes sweep --out, its second and further lines", "sweep.rows", "SweepRow"),
    "replay": JsonDocument("camkes analyze --witnesses, camkes run --replay", "analysis.replay", "Replay"),
    "schedule": JsonDocument(
        "camkes explore --schedule, camkes run --replay", "backends.host.schedule", "Schedule"
    ),
    "evidence": JsonDocument("camkes evidence, in evidence.json", "evidence.kit", "EvidenceReport"),
    "explain": JsonDocument("camkes explain --json", "diagnostics.explain", "CodePage", True),
    "sdk": JsonDocument("camkes sdk --json --list FILE", "cli.commands.sdks", "SdkReport"),
    "doctor": JsonDocument("camkes doctor --json", "cli.commands.environment", "DoctorReport"),
}


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a document, from its type."""
    document = DOCUMENTS[name]
    (outer,), definitions = msgspec.json.schema_components([document.kind()], ref_template="#/$defs/{name}")
    for each in definitions.values():
        if "description" in each:
            each["description"] = " ".join(each["description"].split())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"camkes-rt: {document.written_by}",
        **({"type": "array", "items": outer} if document.listed else outer),
        "$defs": definitions,
    }


def schema(arguments: argparse.Namespace) -> int:
    if arguments.name is None:
        width = max(map(len, DOCUMENTS))
        for name, document in DOCUMENTS.items():
            print(f"{name:{width}}  {document.written_by}")
    else:
        json.dump(json_schema(arguments.name), sys.stdout, indent=2, ensure_ascii=False)
        print()
    return GOOD


def schema_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(DOCUMENTS)
    parser.add_argument(
        "name", metavar="NAME", nargs="?", choices=tuple(DOCUMENTS), help=f"(default: lists all) {names}"
    )


COMMANDS = (
    Command(
        "schema",
        schema,
        "print the JSON Schema of a document that a command writes",
        schema_arguments,
        """
  camkes schema                        lists all documents
  camkes schema run > run.schema.json  of `camkes run --json`""",
    ),
)
