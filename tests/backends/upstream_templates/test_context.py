# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: E501 -- templates
"""The names that templates find, and what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.project.application import ComponentBuild

from .support import evaluated, rendered, text_of

pytestmark = pytest.mark.requirement("LANG-27")

#: expression of a template of client.p, and what it gives
ME = {
    "/*? me ?*/": "client.p",
    "/*? me.interface ?*/ /*? me.interface.name ?*/": "p p",
    "/*? me.instance.name ?*/ /*? me.instance ?*/": "client client",
    "/*? me.instance.address_space ?*/": "client",
    "/*? me.parent.name ?*/ /*? me.label() ?*/ /*? me.parent.label() ?*/": "wire wire wire",
    "/*? me.parent.type.name ?*/ /*? me.parent.type.from_threads ?*/ /*? me.parent.type.to_threads ?*/": "Wire 0 2",
    "/*? me.parent.from_ends.index(me) ?*/": "0",
    "/*? me.parent.from_ends | length ?*/ /*? me.parent.to_end ?*/": "2 server.p",
    "/*? me.parent.to_instance.name ?*/ /*? me.parent.to_interface.name ?*/": "server p",
    "/*? me.parent.from_instance.name ?*/ /*? me.parent.from_interface ?*/": "client p",
    "/*? me.parent.to_instances[0] ?*/ /*? me.parent.from_interfaces | length ?*/": "server 2",
    "/*? me.parent.type.get_attribute('to_global_rpc_endpoint').default ?*/": "1",
    "/*? me.parent.type.get_attribute('nothing') is none ?*/": "True",
    "/*? me.might_block() ?*/ /*? me.parent.to_end.might_block() ?*/": "True True",
    "/*? me.interface.type.name ?*/": "P",
    "/*? me.interface.type.methods | map(attribute='name') | join(' ') ?*/": "f g",
    "/*? me.interface.type.methods[0].return_type ?*/ /*? me.interface.type.methods[1].return_type ?*/": "int None",
    "/*- for p in me.interface.type.methods[0].parameters -*//*? p.direction ?*/ /*? p.type ?*/ /*? p.name ?*/ /*? p.array ?*/;/*- endfor -*/": "in string a False;out uint64_t b True;",
    "/*? macros.show_includes(me.interface.type.includes) ?*/": '#include "p.h"',
    "/*? macros.show_includes(me.parent.to_instance.type.includes) ?*/": "#include <server.h>",
    "/*? me.instance.type.name ?*/ /*? me.instance.type.control ?*/ /*? me.instance.type.hardware ?*/": "Client True False",
    "/*? me.instance.type.mutexes[0].name ?*/ /*? me.instance.type.semaphores | length ?*/": "m 0",
    "/*? (me.instance.type.uses + me.instance.type.provides) | length ?*/": "1",
    "/*? me.instance.type.dataports[0].type ?*/ /*? me.instance.type.emits[0].type ?*/": "Buf(8192) E",
    "/*? isinstance(me.interface, camkes.ast.Uses) ?*/ /*? isinstance(me.interface, camkes.ast.Provides) ?*/": "True False",
    "/*? me.parent.to_instance.type.provides[0].type is sameas me.interface.type ?*/": "True",
    "/*? composition.instances | map(attribute='name') | join(' ') ?*/": "device client other server",
    "/*? composition.connections.index(me.parent) ?*/": "1",
    "/*? configuration['client'].get('name') ?*/ /*? configuration['client']['size'] ?*/": "first 4",
    "/*? configuration['nobody'].get('x', 5) ?*/ /*? configuration.get('nothing') ?*/": "5 None",
    "/*? configuration.settings_dict['client']['name'].value ?*/": "first",
    "/*? options.architecture ?*/ /*? options.realtime ?*/ /*? options.default_priority ?*/": "x86_64 False 254",
}


@pytest.mark.parametrize(("expression", "expected"), ME.items(), ids=range(len(ME)))
def test_the_system(tmp_path: Path, expression: str, expected: str) -> None:
    assert evaluated(tmp_path, expression) == expected.strip()


PYTHON = {
    "/*? list(filter(lambda('x: x > 1'), [1, 2, 3])) ?*/": "[2, 3]",
    "/*? list(map(lambda('x, y: x + y'), [1], [2])) ?*/": "[3]",
    "/*? isinstance(1, numbers.Integral) ?*/ /*? isinstance('', six.string_types) ?*/": "True True",
    "/*? int(math.log(4096, 2)) ?*/ /*? len([1]) ?*/ /*? hex(16) ?*/": "12 1 0x10",
    "/*? list(six.moves.range(2)) ?*/ /*? list(enumerate('a')) ?*/": "[0, 1] [(0, 'a')]",
    "/*? re.sub('[^a-z]', '_', 'a-b') ?*/ /*? list(zip([1], [2])) ?*/": "a_b [(1, 2)]",
    "/*- set s = set([3, 1, 3]) -*//*- do s.add(2) -*//*? list(s) ?*/": "[3, 1, 2]",
    "/*? uniq([2, 1, 2]) ?*/ /*? flatten([[1], [2]]) ?*/ /*? flatMap(lambda('x: [x, x]'), [1]) ?*/": "[2, 1] [1, 2] [1, 1]",
    "/*? list(itertools.chain([1], [2])) ?*/ /*? functools.reduce(lambda('x, y: x * y'), [2, 3]) ?*/": "[1, 2] 6",
    "/*- set c = Counter() -*//*- do c.increment() -*//*? c ?*/": "1",
    "/*- for x in [1, 2, 3] -*//*- if x == 2 -*//*- break -*//*- endif -*//*? x ?*//*- endfor -*/": "1",
    "/*- set n = namespace(x=1) -*//*- set n.x = 2 -*//*? n.x ?*/": "2",
    "/*# no word of this #*/x/*? assert(true) ?*/": "x",
    "/*? seL4_ARM_IRQ_EDGE.value ?*/ /*? seL4_CanRead | int if false else 'r' ?*/": "1 r",
    "/*? stash('k', 5) ?*//*? pop('k') ?*/ /*? pop('k') ?*/": "5 None",
    "/*? generate_seL4_Recv(options, 4, '&badge', 5) ?*/": "seL4_Recv(4, &badge)",
    "/*? generate_seL4_ReplyRecv(options, 4, 'info', '&badge', 5) ?*/": "seL4_ReplyRecv(4, info, &badge)",
    "/*? generate_seL4_SignalRecv(options, 'r', 3, 'i', 4, '&b', 5) ?*/": "seL4_Signal(3); r = seL4_Recv(4, &b)",
}


@pytest.mark.parametrize(("expression", "expected"), PYTHON.items(), ids=range(len(PYTHON)))
def test_python_and_helpers(tmp_path: Path, expression: str, expected: str) -> None:
    assert evaluated(tmp_path, expression) == expected


def test_symbols_are_never_the_same(tmp_path: Path) -> None:
    rendering, _ = rendered(tmp_path, {"Wire.FROM": "/*? c_symbol('x') ?*/ /*? c_symbol('x') ?*/"})
    names = text_of(rendering, "client/p_Wire_0.c").split() + text_of(rendering, "other/p_Wire_1.c").split()
    assert len(set(names)) == 4


def test_values_stashed_for_another_template(tmp_path: Path) -> None:
    """Within a connection by `stash`, anywhere by `_stash`."""
    rendering, diagnostics = rendered(
        tmp_path,
        {
            "Wire.FROM": "/*- do stash('n', (pop('n') or 0) + 1) -*//*- do _stash('all', 9) -*/",
            "Wire.TO": "/*? pop('n') ?*/",
            "Signal.TO": "/*? pop('n') ?*/ /*? _pop('all') ?*/",
        },
    )
    assert not diagnostics
    assert text_of(rendering, "server/p_Wire_0.c") == "2"
    assert text_of(rendering, "server/one_Signal_0.c") == "None 9"
    assert text_of(rendering, "server/two_Signal_0.c") == "None None"


def test_templates_use_each_other_by_name(tmp_path: Path) -> None:
    rendering, diagnostics = rendered(
        tmp_path,
        {
            "helpers/one.c": "/*- macro twice(x) -*//*? x * 2 ?*/ in /*? me ?*//*- endmacro -*/",
            "two.c": "/*? me.interface.name ?*/",
            "Wire.FROM": "/*- import 'helpers/one.c' as one with context -*//*? one.twice(4) ?*/ /*- include 'two.c' -*/",
        },
    )
    assert not diagnostics
    assert text_of(rendering, "client/p_Wire_0.c") == "8 in client.p p"


def test_headers_libraries_and_templates_of_a_component(tmp_path: Path) -> None:
    build = ComponentBuild(template_sources=("own.template.c",), template_headers=("own.template.h",))
    rendering, diagnostics = rendered(
        tmp_path,
        {
            "Wire.FROM_HEADER": "int /*? me.interface.name ?*/_more;",
            "own.template.c": "/*? me.name ?*/ /*? me.label() ?*/ /*? me.type.uses[0].name ?*/ /*? me.instance.name ?*/",
            "own.template.h": "/*? configuration[me.name]['size'] ?*/",
        },
        component={"Client": build},
    )
    assert not diagnostics
    assert text_of(rendering, "client/own.template.c") == "client client p client"
    assert text_of(rendering, "other/own.template.h") == "4"
    assert text_of(rendering, "client/p_Wire_0.h") == "int p_more;"
    headers = rendering.for_code().headers
    assert headers["client"] == ("p_Wire_0.h", "own.template.h")
    assert rendering.libraries["client"] == ("Device_from", "Wire_from", "Signal_from")


def test_hardware_is_not_rendered(tmp_path: Path) -> None:
    rendering, diagnostics = rendered(tmp_path, {"Device.TO": "/*? raise(TemplateError('rendered')) ?*/"})
    assert not diagnostics
    assert not [t for t in rendering.files if t.file.instance == "device"]


def test_an_end_has_as_many_threads_as_its_connector_declares(tmp_path: Path) -> None:
    rendering, _ = rendered(tmp_path, {})
    threads = {t.name for space in rendering.model.spaces for t in space.threads if t.interface}
    assert threads == {"server.p@0", "server.p@1", "client.e", "other.e"}
