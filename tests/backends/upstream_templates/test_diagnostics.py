# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Diagnostics of templates that refuse or fail: their lines, and the lines they were rendered for."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.upstream_templates import codes
from camkes.diagnostics import Severity
from camkes.diagnostics.rendering import Form, Style, render
from camkes.project.application import ComponentBuild
from tests.golden import compare

from .support import rendered

pytestmark = pytest.mark.requirement("LANG-28")

EXPECTED = Path(__file__).parent / "expected"

#: name -> templates
FAILING = {
    "refused": {"Wire.FROM": "int x;\n/*? raise(TemplateError('not supported')) ?*/\n"},
    "refused_without_a_reason": {"Wire.FROM": "/*? raise(TemplateError) ?*/\n"},
    "refused_a_setting": {
        "Device.FROM": "\n/*- set paddr = configuration[me.parent.to_instance.name].registers_paddr -*/\n"
        "/*? raise(TemplateError('device.registers_paddr is %d, no good' % paddr)) ?*/\n"
    },
    "refused_in_a_macro": {
        "Signal.TO": "/*- import 'part.c' as part with context -*/\n/*? part.check(1) ?*/\n",
        "part.c": "/*- macro check(x) -*/\n/*- if x -*/\n  /*? raise(TemplateError('checked')) ?*/\n"
        "/*- endif -*/\n/*- endmacro -*/\n",
    },
    "undefined_name": {"Wire.TO": "\n\n  /*? nothing_like_this ?*/\n"},
    "undefined_attribute": {"Wire.TO": "/*? me.interface.colour ?*/\n"},
    "assertion": {"Wire.TO": "/*? assert(1 == 2, 'one is not two') ?*/\n"},
    "arithmetic": {"Wire.TO": "/*? 1 / 0 ?*/\n"},
    "syntax": {"Wire.FROM": "a\n/*- if -*/\n"},
    "unknown_object": {"Wire.FROM": "/*? alloc('x', seL4_CapTableObject) ?*/\n"},
    "sizes_differ": {
        "Wire.FROM": "/*- set size = 4096 * (me.parent.from_ends.index(me) + 1) -*/\n"
        "/*? register_shared_variable('b', 'b', size) ?*/\n"
    },
    "not_whole_pages": {"Wire.FROM": "/*? register_shared_variable('b', 'b', 100) ?*/\n"},
    "missing_part": {"Wire.FROM": "/*- include 'part.c' -*/\n"},
}


@pytest.mark.parametrize("name", FAILING)
def test_golden(name: str, tmp_path: Path) -> None:
    _, diagnostics = rendered(tmp_path, FAILING[name])
    assert diagnostics
    text = render(diagnostics, Style(form=Form.TEXT, color=False, unicode=False))
    text = text.replace(f"{tmp_path}/", "")
    compare(text, EXPECTED / f"{name}.txt")


@pytest.mark.parametrize("name", FAILING)
def test_the_line_of_the_system_is_named(name: str, tmp_path: Path) -> None:
    """First of all the user's own text; a template's line only beside it."""
    _, diagnostics = rendered(tmp_path, FAILING[name])
    for diagnostic in diagnostics:
        assert diagnostic.severity is Severity.ERROR
        assert diagnostic.span is not None
        assert diagnostic.span.file.path.name == "system.camkes"


def test_all_errors_are_reported_in_one_run(tmp_path: Path) -> None:
    wrong = "/*? raise(TemplateError('%s')) ?*/"
    _, diagnostics = rendered(tmp_path, {"Wire.TO": wrong % "one", "Signal.TO": wrong % "two"})
    assert [d.message for d in diagnostics] == ["one", "two", "two"]


def test_an_end_without_a_template(tmp_path: Path) -> None:
    _, diagnostics = rendered(tmp_path, {}, missing=("Wire.TO",))
    (diagnostic,) = diagnostics
    assert diagnostic.code is codes.NO_TEMPLATE
    assert diagnostic.message == 'connector "Wire" has no template for its "to" end'
    assert diagnostic.span is not None and diagnostic.span.line == 18


def test_a_missing_template(tmp_path: Path) -> None:
    build = ComponentBuild(template_sources=("nowhere.c",))
    _, diagnostics = rendered(tmp_path, {}, component={"Server": build})
    (diagnostic,) = diagnostics
    assert diagnostic.code is codes.NO_TEMPLATE
    assert diagnostic.notes == (f"looked for in {tmp_path / 'templates'}",)


def test_every_code_has_an_example() -> None:
    said = "".join(path.read_text(encoding="utf-8") for path in EXPECTED.glob("*.txt"))
    for code in (codes.TEMPLATE_ERROR, codes.TEMPLATE_FAILED, codes.NO_TEMPLATE):
        assert code.number in said
