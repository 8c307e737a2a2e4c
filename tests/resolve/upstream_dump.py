# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What camkes-tool makes of systems, in the form of `camkes.model.dump`.

    CAMKES_UPSTREAM=CHECKOUT PYTHON-OF-UPSTREAM upstream_dump.py < jobs > answers

runs in the Python of a checkout of camkes-tool, so it uses nothing of this repository. It reads a job a line
(JSON: "file" and options) and answers each with a line: {"system": ...}, or for what the tool rejects
{"error": message, "place": [file, line]}, or for another exception {"crash": ...}.
"""

import enum
import json
import os
import re
import sys
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, os.environ["CAMKES_UPSTREAM"])


def provide_units() -> None:
    """The parser takes one enumeration from capdl; older releases of capdl lack it."""
    try:
        import capdl
    except ImportError:
        capdl = sys.modules["capdl"] = types.ModuleType("capdl")
    if not hasattr(capdl, "DomainDurationUnit"):
        capdl.DomainDurationUnit = enum.Enum("DomainDurationUnit", "Ticks Us")


provide_units()

import camkes.ast as upstream  # noqa: E402

from camkes.parser import Parser, parse_query_parser_args  # noqa: E402

#: A C type is a name, and perhaps the word `struct` before it.
STRUCT = re.compile(r"struct\s+(\w+)$")

#: Represents a value that JSON does not have.
OBJECT = "<object>"


def c_type(name: str) -> dict[str, Any]:
    match = STRUCT.match(name)
    return {"name": match[1] if match else name, "struct": bool(match)}


def attribute_type(type: Any) -> dict[str, Any]:
    if isinstance(type, str):
        return c_type(type)
    members = [
        {"name": a.name, "type": attribute_type(a.type), "array": bool(a.array)} for a in type.attributes
    ]
    return {"name": type.name, "members": members}


def plain(value: Any) -> Any:
    """A value of a setting as JSON knows values."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    # the answer of a query holds objects for the nodes below the one that was asked for
    return value if value is None or isinstance(value, (int, float, str)) else OBJECT


def attribute(node: Any) -> dict[str, Any]:
    return {
        "name": node.name,
        "type": attribute_type(node.type),
        "array": bool(node.array),
        "default": plain(node.default),
    }


def includes(nodes: Any) -> list[dict[str, Any]]:
    return [{"path": node.source, "system": not node.relative} for node in nodes]


def procedure(node: Any) -> dict[str, Any]:
    methods = [
        {
            "name": method.name,
            "return_type": c_type(method.return_type) if method.return_type else None,
            "parameters": [
                {"direction": p.direction, "type": c_type(p.type), "array": bool(p.array), "name": p.name}
                for p in method.parameters
            ],
        }
        for method in node.methods
    ]
    return {"name": node.name, "methods": methods, "includes": includes(node.includes)}


def dataport_type(name: str) -> dict[str, Any]:
    match = re.match(r"Buf(?:\((\d+)\))?$", name)
    if not match:
        return {"name": name, "size": None}
    return {"name": "Buf", "size": int(match[1] or 4096)}


class Dump:
    """The tables of definitions grow as they are used."""

    def __init__(self) -> None:
        self.components: dict[str, Any] = {}
        self.procedures: dict[str, Any] = {}
        self.connectors: dict[str, Any] = {}

    def interfaces(self, node: Any) -> Iterator[dict[str, Any]]:
        kinds = ("uses", "provides", "emits", "consumes", "dataports")
        for kind in kinds:
            for interface in getattr(node, kind):
                type = interface.type
                if kind in ("uses", "provides"):
                    self.procedures[type.name] = procedure(type)
                    type = type.name
                elif kind == "dataports":
                    type = dataport_type(type)
                yield {
                    "kind": "dataport" if kind == "dataports" else kind,
                    "name": interface.name,
                    "type": type,
                    "optional": bool(getattr(interface, "optional", False)),
                }

    def component(self, node: Any) -> str:
        syncs = [
            {"kind": kind, "name": sync.name}
            for kind, nodes in (
                ("mutex", node.mutexes),
                ("semaphore", node.semaphores),
                ("binary_semaphore", node.binary_semaphores),
            )
            for sync in nodes
        ]
        exports = node.composition.exports if node.composition is not None else ()
        self.components[str(node.name)] = {
            "name": node.name,
            "control": bool(node.control),
            "hardware": bool(node.hardware),
            "interfaces": list(self.interfaces(node)),
            "syncs": syncs,
            "attributes": [attribute(a) for a in node.attributes],
            "includes": includes(node.includes),
            "exported": [export.destination.name for export in exports],
        }
        return str(node.name)

    def connector(self, node: Any) -> str:
        ends = {
            f"{side}_end": {
                "hardware": bool(getattr(node, f"{side}_hardware")),
                "kind": getattr(node, f"{side}_type"),
                "many": bool(getattr(node, f"{side}_multiple")),
                "threads": getattr(node, f"{side}_threads"),
            }
            for side in ("from", "to")
        }
        attributes = [
            # the type of a connector's attribute is never looked up
            {
                "name": a.name,
                "type": c_type(a.type if isinstance(a.type, str) else ".".join(a.type.name)),
                "array": bool(a.array),
                "default": plain(a.default),
            }
            for a in node.attributes or ()
        ]
        self.connectors[str(node.name)] = {"name": node.name, **ends, "attributes": attributes}
        return str(node.name)

    def system(self, assembly: Any) -> dict[str, Any]:
        settings: dict[str, dict[str, Any]] = {}
        for setting in assembly.configuration.settings:
            settings.setdefault(setting.instance, {})[setting.attribute] = plain(setting.value)
        instances = [
            {
                "name": instance.name,
                "type": self.component(instance.type),
                "address_space": instance.address_space,
                "settings": settings.pop(instance.name, {}),
            }
            for instance in assembly.composition.instances
        ]
        connections = [
            {
                "name": connection.name,
                "connector": self.connector(connection.type),
                "from_ends": [ends(end) for end in connection.from_ends],
                "to_ends": [ends(end) for end in connection.to_ends],
                "settings": settings.pop(connection.name, {}),
            }
            for connection in assembly.composition.connections
        ]
        schedule = [
            {"domain": item[0], "duration": item[1], "unit": item[2].name.lower() if len(item) > 2 else None}
            for item in assembly.schedule.items
        ]
        return {
            "instances": instances,
            "connections": connections,
            "schedule": schedule,
            "other_settings": settings,
            "components": self.components,
            "procedures": self.procedures,
            "connectors": self.connectors,
        }


def ends(end: Any) -> dict[str, str]:
    return {"instance": end.instance.name, "interface": end.interface.name}


def answer(job: dict[str, Any]) -> dict[str, Any]:
    # the count of unnamed structs goes on from file to file, and each file is a run of its own here
    upstream.Struct.anon_struct_count = 0
    arguments = ["--dtb", job["dtb"]] if job.get("dtb") else []
    if job.get("gpio_list"):
        arguments += ["--gpio-list", job["gpio_list"]]
    queries, _ = parse_query_parser_args(arguments)
    options = types.SimpleNamespace(
        cpp=job.get("cpp", True),
        cpp_bin="cpp",
        cpp_flag=job.get("cpp_flags", []),
        import_path=job.get("import_path", []),
        allow_forward_references=job.get("allow_forward_references", False),
        verbosity=0,
        queries=queries,
    )
    try:
        tree, _ = Parser(options).parse_file(str(Path(job["file"]).absolute()))
        return {"system": Dump().system(tree.assembly)}
    except Exception as exception:
        text = "\n".join(map(str, exception.args))
        if type(exception).__name__ not in ("ParseError", "ASTError"):
            return {"crash": f"{type(exception).__name__}: {text}"}
        match = re.match(r"([^:\n]+):(\d+):", text)
        return {"error": text, "place": [match[1], int(match[2])] if match else None}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
