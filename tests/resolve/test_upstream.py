# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Public systems mean the same to camkes-tool and to us.

Needs CAMKES_CORPUS (see `tests.resolve.corpus`), CAMKES_UPSTREAM, a checkout of camkes-tool, and
CAMKES_UPSTREAM_PYTHON, a Python that has what that checkout needs. Run with `-s` to see the score.
CAMKES_UPSTREAM_ANSWERS may name a file: the answers of camkes-tool are stored there, and reused.
"""

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from camkes.diagnostics import Diagnostic, Severity, Sink
from camkes.model.dump import dump
from camkes.model.system import System
from camkes.resolve import LoadOptions, codes, load
from camkes.resolve.files.library import LIBRARY
from tests.resolve import corpus
from tests.resolve.inventory import ROWS, SAME

pytestmark = pytest.mark.requirement("LANG-13")

UPSTREAM = os.environ.get("CAMKES_UPSTREAM")
PYTHON = os.environ.get("CAMKES_UPSTREAM_PYTHON")

#: What differs on purpose; `facts` brings each to one form, or leaves it out.
ON_PURPOSE = {
    "order": "Instances, interfaces, settings and ends are in the order of the text in ours; in upstream the "
    "ends of joined connections have an order that changes from run to run.",
    "default": "A reference to something without a value leaves the setting out in ours, and the attribute "
    "has its default; upstream writes the default into the setting.",
    "joined": "A setting of a connection that was joined with others belongs to the joined one in ours; "
    "upstream keeps it under a name that nothing has any more.",
    "boolean": "`bool` stays `bool` in ours and becomes `boolean` in upstream; both mean `bool` of C.",
    "library": "The macros of the priority-aware-camkes library are understood as they stand, without a "
    "checkout of it.",
    "nodes": "The answer of a device tree query has no entries for the nodes below the one that was asked "
    "for; upstream's has objects of Python there, which no template can use.",
}

#: How upstream ends with a file that is a part of systems and none itself.
PARTS = ("no assembly found in input specification", "no instances declared in assembly")

Facts = dict[tuple[str, ...], Any]


# The facts of a dump -------------------------------------------------------------------------------


def facts(dumped: Mapping[str, Any], parts: Mapping[str, str]) -> Facts:
    """The facts of a dump, by what they are about. `parts` has the name of the connection a part went
    into."""
    result: Facts = {("schedule",): dumped["schedule"]}
    components = dumped["components"]
    for instance in dumped["instances"]:
        name = instance["name"]
        result["instance", name] = (instance["type"], instance["address_space"])
        values = {a["name"]: a["default"] for a in components[instance["type"]]["attributes"]}
        values = {key: value for key, value in values.items() if value is not None}
        values |= instance["settings"]
        result |= {("setting", name, key): value for key, value in values.items()}
    for connection in dumped["connections"]:
        name = connection["name"]
        result["connection", name] = connection["connector"]
        for side in ("from", "to"):
            ends = connection[f"{side}_ends"]
            result["connection", name, side] = sorted(f"{e['instance']}.{e['interface']}" for e in ends)
        result |= {("setting", name, key): value for key, value in connection["settings"].items()}
    for name, settings in dumped["other_settings"].items():
        result |= {("setting", parts.get(name, name), key): value for key, value in settings.items()}
    result = {key: nodes(value) for key, value in result.items()}
    for name, component in components.items():
        result |= component_facts(name, component)
    for name, procedure in dumped["procedures"].items():
        result["procedure", name] = boolean(procedure["methods"])
        result["procedure", name, "include"] = procedure["includes"]
    for name, connector in dumped["connectors"].items():
        result["connector", name] = [connector["from_end"], connector["to_end"]]
        result["connector", name, "attributes"] = connector["attributes"]
    return result


def component_facts(name: str, component: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield ("component", name), (component["control"], component["hardware"])
    yield ("component", name, "attributes"), component["attributes"]
    yield ("component", name, "include"), component["includes"]
    yield ("component", name, "exported"), sorted(component["exported"])
    for interface in component["interfaces"]:
        keys = ("kind", "type", "optional")
        yield ("component", name, "interface", interface["name"]), [interface[key] for key in keys]
    for sync in component["syncs"]:
        yield ("component", name, "sync", sync["name"]), sync["kind"]


def boolean(methods: Any) -> Any:
    return json.loads(json.dumps(methods).replace('"bool"', '"boolean"'))


def nodes(value: Any) -> Any:
    """A value without representations of objects of Python, and without the keys that led to it."""
    if not isinstance(value, dict) or "query" not in value:
        return value
    answers = value["query"]
    return {**value, "query": [only_properties(a) if isinstance(a, dict) else a for a in answers]}


def only_properties(node: dict[str, Any]) -> dict[str, Any]:
    below = {key for key, item in node.items() if isinstance(item, list) and "<object>" in item}
    return {
        key: item
        for key, item in node.items()
        if key not in below and not any(key.startswith(f"{name}_") for name in below)
    }


def values(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {name: setting["value"] for name, setting in settings.items()}


def our_facts(system: System) -> Facts:
    dumped = json.loads(json.dumps(dump(system)))
    for place in (*dumped["instances"], *dumped["connections"]):
        place["settings"] = values(place["settings"])
    dumped["other_settings"] = {name: values(settings) for name, settings in dumped["other_settings"].items()}
    return facts(dumped, {})


def differences(system: System, theirs: Mapping[str, Any]) -> list[str]:
    """What the two dumps say differently."""
    parts = {part: connection.name for connection in system.connections for part in connection.names}
    ours, others = our_facts(system), facts(theirs, parts)
    nothing = "nothing"
    return [
        f"{' '.join(key)}: {ours.get(key, nothing)!s:.200}; upstream: {others.get(key, nothing)!s:.200}"
        for key in sorted({*ours, *others})
        if key not in ours or key not in others or ours[key] != others[key]
    ]


# Both tools on every file --------------------------------------------------------------------------


def job(file: Path, options: LoadOptions) -> dict[str, Any]:
    """What `upstream_dump` is to do; upstream's own files are not where it looks by itself."""
    assert UPSTREAM
    builtin = Path(UPSTREAM) / "include" / "builtin"
    return {
        "file": str(file),
        "import_path": [*map(str, options.import_path), str(builtin)],
        "cpp": options.cpp,
        "cpp_flags": [*options.cpp_flags, *(f"-I{folder}" for folder in options.include_path)],
        "allow_forward_references": options.allow_forward_references,
        "dtb": str(options.dtb) if options.dtb else None,
        "gpio_list": str(options.gpio_list) if options.gpio_list else None,
    }


def answers_of_upstream(root: Path, jobs: list[tuple[Path, LoadOptions]]) -> list[dict[str, Any]]:
    """The verdict of camkes-tool for each file, of this run or a stored one."""
    kept = os.environ.get("CAMKES_UPSTREAM_ANSWERS")
    known = json.loads(Path(kept).read_text()) if kept and Path(kept).exists() else {}
    keys = [
        hashlib.sha256(json.dumps(job(file, options)).encode() + file.read_bytes()).hexdigest()
        for file, options in jobs
    ]
    new = [(key, each) for key, each in zip(keys, jobs, strict=True) if key not in known]
    found = ask_upstream(root, [each for _, each in new])
    known |= {key: answer for (key, _), answer in zip(new, found, strict=True)}
    if kept:
        Path(kept).write_text(json.dumps(known))
    return [known[key] for key in keys]


def ask_upstream(root: Path, jobs: list[tuple[Path, LoadOptions]]) -> list[dict[str, Any]]:
    assert PYTHON
    lines = [json.dumps(job(file, options)) for file, options in jobs]
    script = Path(__file__).with_name("upstream_dump.py")
    run = subprocess.run(
        [PYTHON, str(script)],
        input="".join(f"{line}\n" for line in lines),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # upstream's own warnings
        text=True,
        check=True,
        cwd=root,
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def errors(sink: Sink) -> list[Diagnostic]:
    return [d for d in sink.diagnostics if d.severity is Severity.ERROR]


def same_or_better(told: str, place: tuple[str, int] | None, found: list[Diagnostic]) -> bool:
    """Whether an error is where upstream says it is, where upstream says a place at all.

    For a missing import upstream counts the lines of the preprocessed text; ours is at the import.
    """
    missing = re.search(r"import '(.*)' not found", told)
    for error in found:
        if place is None or error.span is None:
            continue
        if (str(error.span.file.path), error.span.line) == tuple(place):
            return True
        at_import = error.code is codes.IMPORT_NOT_FOUND and str(error.span.file.path) == place[0]
        if missing and at_import and missing[1] in error.span.file.lines[error.span.line - 1]:
            return True
    return place is None


class Score:
    """How often the two tools agree, and where they do not."""

    def __init__(self) -> None:
        self.right = dict.fromkeys(("accepted", "same", "parts", "rejected"), 0)
        self.all = dict.fromkeys(self.right, 0)
        self.on_purpose = 0
        self.wrong: list[str] = []

    def __str__(self) -> str:
        of = {what: f"{count} of {self.all[what]}" for what, count in self.right.items()}
        return (
            f"systems: {of['accepted']} accepted, {of['same']} resolved the same\n"
            f"parts of systems: {of['parts']} accepted\n"
            f"mistakes: {of['rejected']} rejected at the same line or a better one\n"
            f"accepted on purpose: {self.on_purpose}"
        )

    def agree(self, what: str, name: str, why_not: list[str]) -> None:
        self.all[what] += 1
        self.right[what] += not why_not
        self.wrong += [f"{name}: {why}" for why in why_not]

    def count(
        self, name: str, system: System | None, found: list[Diagnostic], answer: Mapping[str, Any]
    ) -> None:
        messages = [error.message for error in found]
        if "system" in answer:
            self.agree("accepted", name, messages)
            why = ["no system"] if system is None else differences(system, answer["system"])
            self.agree("same", name, why)
            return
        told = answer.get("error", answer.get("crash"))
        if "CPP command failed" in told and any(header.name in told for header in LIBRARY.iterdir()):
            self.on_purpose += 1
        elif told.endswith(PARTS) and "/bad-" not in name:  # nothing else is wrong with it
            others = [d.message for d in found if d.code not in (codes.NO_ASSEMBLY, codes.NO_INSTANCES)]
            self.agree("parts", name, others if found else [f"accepted; upstream: {told}"])
        else:
            good = found and same_or_better(told, answer.get("place"), found)
            self.agree(
                "rejected", name, [] if good else [f"{told} ({answer.get('place')}); ours: {messages}"]
            )


@pytest.mark.skipif(not (corpus.corpus() and UPSTREAM and PYTHON), reason="there is no corpus or no upstream")
def test_every_file_has_the_meaning_of_upstream() -> None:
    root = corpus.corpus()
    assert root is not None
    jobs = [(file, corpus.options(root, file)) for file in corpus.files(root)]
    answers = answers_of_upstream(root, jobs)
    score = Score()
    for (file, options), answer in zip(jobs, answers, strict=True):
        sink = Sink()
        system = load(file, options, sink)
        score.count(str(file.relative_to(root)), system, errors(sink), answer)
    print(f"\n{score}")
    assert not score.wrong, "\n".join(score.wrong)


@pytest.mark.skipif(not (UPSTREAM and PYTHON), reason="there is no upstream")
def test_camkes_tool_behaves_as_the_inventory_states(tmp_path: Path) -> None:
    jobs = [(tmp_path / f"{i}.camkes", LoadOptions(cpp=False)) for i in range(len(ROWS))]
    for (file, _), row in zip(jobs, ROWS, strict=True):
        file.write_text(row.text, encoding="utf-8")
    verdicts = {"system": "accepts", "error": "rejects", "crash": "crashes"}
    answers = ask_upstream(tmp_path, jobs)
    found = [verdicts[next(iter(answer))] for answer in answers]
    assert found == [row.upstream for row in ROWS]
    score = Score()
    for (file, options), row, answer in zip(jobs, ROWS, answers, strict=True):
        if row.upstream != "accepts":
            sink = Sink()
            system = load(file, options, sink)
            score.count(f"/bad-{row.name}", system, errors(sink), answer)
    assert not score.wrong, "\n".join(score.wrong)
    counts = {verdict: found.count(verdict) for verdict in verdicts.values()}
    print(f"\nof {len(ROWS)} kinds of mistakes: {counts}\n{score}")


@pytest.mark.skipif(not (UPSTREAM and PYTHON), reason="there is no upstream")
def test_small_systems_have_the_meaning_of_upstream(tmp_path: Path) -> None:
    jobs = []
    for i, same in enumerate(SAME):
        file = tmp_path / f"{i}.camkes"
        file.write_text(same.text, encoding="utf-8")
        jobs.append((file, LoadOptions(cpp=False, allow_forward_references=same.forward)))
    score = Score()
    for (file, options), same, answer in zip(jobs, SAME, ask_upstream(tmp_path, jobs), strict=True):
        assert "system" in answer, f"{same.name}: {answer}"
        sink = Sink()
        score.count(same.name, load(file, options, sink), errors(sink), answer)
    assert not score.wrong, "\n".join(score.wrong)
