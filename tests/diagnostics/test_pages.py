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
from camkes.diagnostics import Sink, explain
from tests.command import camkes

#: A statement ends with `;`, or with the brace that ends its block.
_BLOCKS = (
    "component",
    "procedure",
    "struct",
    "connector",
    "assembly",
    "composition",
    "configuration",
    "group",
)
#: What is left to say of a corrected example: it has no instances, an interface that is not connected or has
#: no protocol, or a helper that the code would make one.
_UNFINISHED = {"E0210", "E0310", "E0518", "E0903"}
#: What stands in a component.
_ITEMS = {"provides", "uses", "emits", "consumes", "dataport", "has", "attribute", "control", "include"}


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

#: Why the examples of the other pages are not run here. Each code has a golden file beside these tests.
NOT_RUN = {
    "the preprocessor or a size, which a short text has not": "E0103 E0111 E0112 E0134 E0207",
    "one block shows what is wrong and what is right, or only what is right": "E0123 E0140 E0142 E0143",
    "the whole file matters": "E0209",
    "a device tree": "E0414 E0415",
    "the code of handlers": "E0516 E0517 E0518 E0519 E0523 E0524 E0736 E0743 E0744 N0501 N0502 N0741 N0742 "
    "W0507 W0508 W0510 W0511",
    "generated or compiled code, a run or a test": "E0651 E0652 E0653 E0654 E0655 E0656 E0721 E0722 E0723 "
    "E0729 E0733 E0761 E0762 E0763 E0764 E0765 E0766 E0806 E0809 E0810 E0811 W0728 W0731 W0737 W0808",
    "CMake files": "E0701 E0702 E0706 E0707 E0708 E0714 W0705 W0713 W0715 W0716",
    "files, folders, programs and limits of a machine": "E0101 E0102 E0110 E0703 E0704 E0710 E0711 E0712 "
    "E0717 E0724 E0725 E0726 E0727 E0730 E0735 E0738 E0739 E0740 E0760 E0775 E0776 E0801 E0803 E0804 E0807 "
    "E0853 E0906 E0909 N0851 N0852 W0709 W0805",
    "a command that writes priorities": "E0910",
    "a build for seL4, or a kernel of another kind": "E0604 E0951 E0952 E0953 E0954 E0955 E0956 E0957 E0958 "
    "E0961 E0962 E0963 E0965 W0542 W0964",
    "a band, with more settings than its example has": "E0572 E0573",
}


def examples(code: str) -> list[str]:
    page = next(explain.explanation(each) for each in explain.all_codes() if each.number == code)
    return re.findall(r"^```camkes[^\n]*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)


def statements(text: str) -> dict[str, list[str]]:
    """The statements of an example by where they belong: out, in, set (the composition's, settings), own (of
    a component)."""
    found: dict[str, list[str]] = {"out": [], "in": [], "set": [], "own": []}
    depth, current = 0, ""
    for character in re.sub(r"//[^\n]*|^\.\.\.$", "", text, flags=re.MULTILINE):
        current += character
        depth += {"{": 1, "}": -1}.get(character, 0)
        block = current.split()[:1] and current.split()[0] in _BLOCKS and character == "}"
        if depth == 0 and (character == ";" or block):
            found[place(current.strip())].append(current.strip())
            current = ""
    if current.strip():
        found["out"].append(current.strip())
    return found


def place(statement: str) -> str:
    word = re.split(r"[\s;]", statement)[0]
    if word in _ITEMS:
        return "own"
    if word in ("connection", "group") or re.match(r"component \w+ \w+;", statement):
        return "in"
    if word == "configuration":
        return "set"
    return "set" if re.match(r"[\w.]+\s*(=|<-)", statement) else "out"


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
        return re.findall(r"^\w+\[(\w+)\]", camkes(*words).errors, re.MULTILINE)
    sink = Sink()
    pipeline.check(pipeline.Input(file, preprocess=False, definitions=mcs), sink)
    return [each.code.number for each in sink.diagnostics]


def test_each_page_is_run_or_has_a_reason() -> None:
    others = [code for codes in NOT_RUN.values() for code in codes.split()]
    assert sorted([*CONTEXTS, *others]) == sorted(code.number for code in explain.all_codes())


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
