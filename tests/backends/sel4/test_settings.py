# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A setting means the same in an image for seL4 wherever it is written, and what it means on the host."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4.link import Unlinked
from camkes.capdl.details import Scheduling
from camkes.diagnostics import Sink

from .project import project

pytestmark = pytest.mark.requirement("CHECK-10")

ROOT = Path(__file__).parents[3]

SETTINGS = {
    "_priority": 77,
    "_max_priority": 99,
    "_stack_size": 32768,
    "heap_size": 12288,
    "p_priority": 55,
    "p_stack_size": 24576,
    "_domain": 1,
    "priority": 44,
}
#: on an MCS kernel, in microseconds
TIMES = {"_period": 4000, "_budget": 3000, "p_period": 8000, "p_budget": 1000}

PARTS = """import <std_connector.camkes>;
procedure P { void f(in int x); }
component Client { control; uses P p; }
component Server { control; provides P p; %(declared)s }
component Outer {
    provides P p;
    %(outer)s
    composition { component Server inner; export inner.p -> p; }
    %(inside)s
}
assembly {
    composition {
        component Client client;
        component Outer outer;
        connection seL4RPCCall c(from client.p, to outer.p);
    }
    configuration { %(configured)s }
}
"""


def lines(form: str, settings: dict[str, int]) -> str:
    return " ".join(form.format(name=name, value=value) for name, value in settings.items())


def texts(settings: dict[str, int]) -> dict[str, str]:
    """The same settings in every place that the language has for them."""
    nothing = {"declared": "", "outer": "", "inside": "", "configured": ""}
    given = lines("inner.{name} = {value};", settings)
    passed = lines("inner.{name} <- o{name};", settings)
    return {
        "configuration": PARTS % {**nothing, "inside": f"configuration {{ {given} }}"},
        "default": PARTS % {**nothing, "declared": lines("attribute int {name} = {value};", settings)},
        "hierarchy": PARTS
        % {
            **nothing,
            "declared": lines("attribute int {name};", settings),
            "outer": lines("attribute int o{name};", settings),
            "inside": f"configuration {{ {passed} }}",
            "configured": lines("outer.o{name} = {value};", settings),
        },
        "default of the outer": PARTS
        % {
            **nothing,
            "declared": lines("attribute int {name};", settings),
            "outer": lines("attribute int o{name} = {value};", settings),
            "inside": f"configuration {{ {passed} }}",
        },
        "default over another": PARTS
        % {
            **nothing,
            "declared": lines("attribute int {name} = 1;", settings),
            "inside": f"configuration {{ {given} }}",
        },
    }


def generated(text: str, folder: Path, **options: object) -> tuple[Unlinked, str]:
    """The specification, and the C file of the address space."""
    folder.mkdir()
    adl = folder / "a.camkes"
    adl.write_text(text)
    (folder / "project.json").write_text(json.dumps(project(adl, folder, **options)))
    tool = [sys.executable, "-m", "camkes.cli.sel4", "generate", str(folder / "project.json")]
    done = subprocess.run(tool, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    spec = Unlinked.read((folder / "camkes-spec.msgpack").read_bytes())
    return spec, (folder / "spaces" / "outer.inner.c").read_text()


PLACES = list(texts(SETTINGS))


@pytest.fixture(scope="module")
def configured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Unlinked, str]:
    folder = tmp_path_factory.mktemp("settings") / "a"
    return generated(texts(SETTINGS)["configuration"], folder)


@pytest.mark.long
def test_settings_are_in_the_image(configured: tuple[Unlinked, str]) -> None:
    spec, image = configured
    space = next(space for space in spec.spaces if space.name == "outer.inner")
    states = {thread.name: thread.state for thread in space.threads}
    control = states["outer.inner"]
    assert (control.priority, control.max_priority, control.domain) == (77, 99, 1)
    assert states["outer.inner.p"].priority == 55
    assert "CAMKES_SEL4_THREAD(0, 32768)" in image
    assert f"CAMKES_SEL4_TLS({len(space.threads) - 1})" in image
    assert "heap[12288]" in image


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES[1:])
def test_the_place_of_a_setting_does_not_matter(
    place: str, configured: tuple[Unlinked, str], tmp_path: Path
) -> None:
    assert generated(texts(SETTINGS)[place], tmp_path / "a") == configured


@pytest.mark.long
@pytest.mark.parametrize("place", PLACES[1:])
def test_times_of_an_mcs_kernel(place: str, tmp_path: Path) -> None:
    expected = generated(texts(TIMES)["configuration"], tmp_path / "expected", mcs=True)
    details = [item.details for item in expected[0].objects]
    assert any(isinstance(each, Scheduling) and each.budget == 3000 for each in details)
    assert generated(texts(TIMES)[place], tmp_path / "a", mcs=True) == expected


@pytest.mark.parametrize("place", PLACES)
def test_the_same_on_the_host_kernel(place: str, configured: tuple[Unlinked, str], tmp_path: Path) -> None:
    adl = tmp_path / "a.camkes"
    adl.write_text(texts(SETTINGS)[place])
    sink = Sink()
    checked = pipeline.check(pipeline.Input(adl), sink)
    assert checked is not None, sink.diagnostics
    model = pipeline.capabilities(checked, sink)
    assert model is not None
    host = {
        thread.name: (thread.priority, thread.stack_size, thread.domain)
        for space in model.spaces
        for thread in space.threads
    }
    spec, image = configured
    for space in spec.spaces:
        for thread in space.threads:
            if thread.name in host:
                priority, stack, domain = host[thread.name]
                assert (thread.state.priority, thread.state.domain) == (priority, domain)
                if space.name == "outer.inner":
                    assert f"CAMKES_SEL4_THREAD({thread.index}, {stack})" in image
