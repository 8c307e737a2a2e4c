# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The examples of `camkes explain`: the one that fails has the code of its page, the corrected one has not.

Examples are parts of systems, which show no more than what matters; page_contexts.txt has the rest.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from camkes import pipeline
from camkes.diagnostics import Sink
from tests.command import camkes
from tests.diagnostics.pages import blocks, statements

pytestmark = pytest.mark.requirement("TOOL-2")

#: What is left to say of a corrected example: it has no instances, an interface that is not connected or has
#: no protocol, or a helper that the code would make one.
_UNFINISHED = {"E0210", "E0310", "E0518", "E0903"}


class Context(NamedTuple):
    """What surrounds an example: declarations, items of the composition, settings, options."""

    declarations: str
    items: str
    settings: str
    options: frozenset[str]


def contexts() -> dict[str, Context]:
    found = {}
    for line in (Path(__file__).parent / "page_contexts.txt").read_text().splitlines():
        if not line.startswith("#"):
            code, _, rest = line.partition(" ")
            empty, *cells = map(str.strip, [*rest.split("|"), "", "", ""])
            assert not empty, line
            found[code] = Context(*cells[:3], frozenset(cells[3].split()))
    return found


CONTEXTS = contexts()


def examples(code: str) -> list[str]:
    return [each.text for each in blocks(code) if each.language == "camkes"]


def system(text: str, context: Context, before: str = "") -> str:
    """An example in its context. What `before`, the example that fails, defines and this one does not, is
    kept; so are its connections, or its settings, if this one has none."""
    parts, old = statements(text), statements(before)
    named = [each.split()[:2] for each in parts["out"]]
    parts["out"] = [
        each for each in old["out"] if each.split()[:2] not in named and not each.startswith("import")
    ] + parts["out"]
    for where in ("in", "set", "own"):
        parts[where] = parts[where] or old[where]
    if any(each.startswith("assembly") for each in parts["out"]):
        return "\n".join(["import <std_connector.camkes>;", context.declarations, *parts["out"]])
    own = " ".join(parts["own"])
    around = context.declarations.replace("ITEMS", own)
    declared = "\n".join([*parts["out"], around] if "after" in context.options else [around, *parts["out"]])
    items = f"{context.items} {' '.join(parts['in'])}"
    if own and "ITEMS" not in context.declarations:
        declared += f"\ncomponent Own {{ {own} }}"
        items += " component Own own;"
    inner = [re.sub(r"^configuration\s*\{|\}$", "", each) for each in parts["set"]]
    settings = " ".join([context.settings, *inner])
    inside = f"composition {{ {items} }} configuration {{ {settings} }}"
    return f"import <std_connector.camkes>;\n{declared}\nassembly {{ {inside} }}\n"


def found_in(text: str, context: Context, folder: Path) -> list[str]:
    """The codes of what is reported."""
    file = folder / "system.camkes"
    file.write_text(text)
    mcs = (("KernelIsMCS", "ON"),) if "mcs" in context.options else ()
    if "analyze" in context.options:
        words = ["analyze", "--nocpp", file, *(["-DKernelIsMCS=ON"] if mcs else []), "--no-search"]
        words += ["--strict", "--platform", "none"] if "strict" in context.options else []
        return re.findall(r"^\w+\[(\w+)\]", camkes(*words).errors, re.MULTILINE)
    sink = Sink()
    pipeline.check(pipeline.Input(file, preprocess=False, definitions=mcs), sink)
    return [each.code.number for each in sink.diagnostics]


@pytest.mark.long
@pytest.mark.parametrize("code", CONTEXTS)
def test_examples_of_a_page(code: str, tmp_path: Path) -> None:
    bad, *corrected = examples(code)
    context = CONTEXTS[code]
    assert code in found_in(system(bad, context), context, tmp_path)
    for each in corrected:
        found = found_in(system(each, context, bad), context, tmp_path)
        others = {other for other in found if other.startswith("E")} - _UNFINISHED
        assert code not in found and not others
