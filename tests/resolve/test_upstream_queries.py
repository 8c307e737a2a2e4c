# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Questions to device trees and lists of pins have the answers that camkes-tool gives.

Needs CAMKES_CORPUS_DTB, a folder of device trees, and upstream (see `tests.resolve.test_upstream`). Run with
`-s` to see the score.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.resolve import LoadOptions, load
from camkes.resolve.values.devicetree import DeviceNode, read_tree
from tests.resolve.test_upstream import PYTHON, UPSTREAM, answers_of_upstream, differences, errors

pytestmark = pytest.mark.requirement("LANG-14")

TREES = os.environ.get("CAMKES_CORPUS_DTB")
QUESTIONS = 30  # of each tree
MOST_TREES = 12

SYSTEM = """\
component A {{ control; }}
assembly {{ composition {{ component A a; }} configuration {{ a.q = {}; }} }}
"""

#: Where upstream has no answer, and ours has one.
ON_PURPOSE = {
    "resolves to multiple results": "upstream takes the path of an alias for the beginning of paths, so that "
    "a node with others below it is never found by its alias; in ours a path is a path",
    "object has no attribute 'words'": "upstream ends with a traceback at a property of bytes",
    "Not sure how to handle FDT property": "upstream stops at a property without a value; in ours it has "
    "not the value that is asked for, and another node may",
}


def questions(root: DeviceNode, choose: random.Random) -> Iterator[dict[str, Any]]:
    """Questions of every kind about what is in a tree, and about what is not."""
    nodes = list(root.walk())
    tables = {
        where: sorted(child.properties)
        for where in ("aliases", "chosen")
        for child in root.children
        if child.name == where
    }
    while True:
        node = choose.choice(nodes)
        name = node.name.partition("@")[0]
        paths = [
            *(re.escape(node.path), node.name, f"{re.escape(name)}@", f"^{re.escape(node.path)}$", name[:4]),
            *(
                name.upper(),
                f"/{re.escape(name)}(@.*)?$",
                f"{name}|{choose.choice(nodes).name}",
                "nothing_like_it",
            ),
        ]
        kind = choose.choice(("path", "aliases", "chosen", "properties", "both"))
        if tables.get(kind):
            yield {kind: choose.choice([*tables[kind], "none"])}
        elif kind == "path":
            yield {"path": choose.choice(paths)}
        elif kind in ("properties", "both") and (wanted := properties(node, choose)):
            yield {"properties": wanted} | ({"path": choose.choice(paths[:6])} if kind == "both" else {})


def properties(node: DeviceNode, choose: random.Random) -> dict[str, Any]:
    """Some of a node's properties, as a question."""
    wanted: dict[str, Any] = {}
    for name, cells in choose.sample(sorted(node.properties.items()), min(len(node.properties), 2)):
        if not cells or any(isinstance(cell, str) and '"' in cell for cell in cells):
            continue
        index = choose.randrange(len(cells))
        other = 1 if isinstance(cells[0], int) else "other"
        wanted |= choose.choice(
            [
                {f"{name}[{index}]": cells[index]},
                {f"{name}[0]": other},
                {f"{name}[*]": list(cells)},
                {f"{name}[{len(cells) + 3}]": cells[0]},
            ]
        )
    return wanted


def without_empty_nodes(theirs: dict[str, Any], ours: System) -> dict[str, Any]:
    """Upstream's system without the nodes below an answer that have no properties; it has `[]` for them."""
    answers = [instance["settings"]["q"] for instance in theirs["instances"]]
    value = ours.instances[0].settings["q"].value
    if not (isinstance(value, dict) and isinstance(answers[0], dict)):
        return theirs
    assert isinstance(value["query"], list)
    for found, own in zip(answers[0]["query"], value["query"], strict=True):
        if isinstance(found, dict) and isinstance(own, dict):
            for name in [name for name, cells in found.items() if cells == [] and name not in own]:
                del found[name]
    return theirs


def trees() -> list[Path]:
    found = sorted(Path(TREES).glob("*.dtb")) if TREES else []
    return found[:: max(1, len(found) // MOST_TREES)][:MOST_TREES]


def jobs(folder: Path) -> Iterator[tuple[Path, LoadOptions]]:
    for tree in trees():
        choose = random.Random(tree.stem)
        asked = questions(read_tree(tree.read_bytes()), choose)
        for number in range(QUESTIONS):
            question = [next(asked) for _ in range(choose.choice((1, 1, 1, 2)))]
            text = json.dumps(question if len(question) > 1 else question[0], ensure_ascii=False)
            file = folder / f"{tree.stem}_{number}.camkes"
            file.write_text(SYSTEM.format(f"dtb({text.replace(chr(92) * 2, chr(92))})"), encoding="utf-8")
            yield file, LoadOptions(cpp=False, dtb=tree)
    pins = folder / "pins.yaml"
    pins.write_text("gpio_list:\n  - {name: LED, id: 4, port: a}\n  - {name: KEY, id: 7, port: b}\n")
    for number, text in enumerate(
        [
            'gpio({"pins": [{"LED": "output"}]})',
            'gpio({"pins": [{"LED": "output"}, {"KEY": "input"}]})',
            'gpio({"pins": []})',
            'gpio({"pin": []})',
            'gpio([{"pins": ["LED"]}])',
            'gpio({"pins": ["NONE"]})["desired-pins"]',
        ]
    ):
        file = folder / f"pins_{number}.camkes"
        file.write_text(SYSTEM.format(text), encoding="utf-8")
        yield file, LoadOptions(cpp=False, gpio_list=pins)


@pytest.mark.skipif(not (TREES and UPSTREAM and PYTHON), reason="there are no device trees or no upstream")
def test_every_query_has_the_answer_of_upstream(tmp_path: Path) -> None:
    asked = list(jobs(tmp_path))
    score: Counter[str] = Counter()
    wrong = []
    for (file, options), told in zip(asked, answers_of_upstream(tmp_path, asked), strict=True):
        sink = Sink()
        system = load(file, options, sink)
        found = [error.message for error in errors(sink)]
        refused = told.get("error", told.get("crash", ""))
        question = file.read_text().splitlines()[1]
        if refused and system is None:
            score["refused by both"] += 1
        elif refused and any(reason in refused for reason in ON_PURPOSE):
            score["answered on purpose"] += 1
        elif refused or system is None:
            wrong.append(f"{file.name}: {question}: upstream: {refused or 'answers'}; ours: {found}")
        elif why := differences(system, without_empty_nodes(told["system"], system)):
            wrong.append(f"{file.name}: {question}: {why[0]}")
        else:
            score["the same"] += 1
    print(f"\n{len(asked)} questions to {len(trees())} trees and a list of pins: {dict(score)}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:40])
    assert score["the same"] > len(asked) // 2
