# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connectors with templates of their own, and options of applications, on the host kernel."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console
from camkes.project.trust import allows_template
from tests.command import camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("HOST-21")

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")

LISTS = """
cmake_minimum_required(VERSION 3.16)
project(lanes C)
set(configure_string "")
config_option(LanesLoud LANES_LOUD "Says more." DEFAULT OFF)
config_option(LanesLouder LANES_LOUDER "Says most." DEFAULT ON DEFAULT_DISABLED OFF DEPENDS "LanesLoud")
config_option(LanesFull LANES_FULL "All lanes." DEFAULT ON DEFAULT_DISABLED OFF DEPENDS "NOT LanesLoud")
config_string(LanesName LANES_NAME "A name." DEFAULT "A1")
config_string(LanesSpeed LANES_SPEED "A number." DEFAULT 50 UNQUOTE)
config_choice(LanesSide LANES_SIDE "Side." "left;LanesLeft;LANES_LEFT" "right;LanesRight;LANES_RIGHT")
add_config_library(lanes "${configure_string}")
if(LanesLeft AND NOT LanesRight)
    set(side left)
endif()
CAmkESAddTemplatesPath(templates)
DeclareCAmkESConnector(Lane FROM lane-from.c FROM_HEADER lane-from.h TO lane-to.c)
DeclareCAmkESConnector(Sums FROM sums-from.c TO sums-to.c)
DeclareCAmkESComponent(Car SOURCES car.c LIBS lanes_Config C_FLAGS -DSIDE=${side})
DeclareCAmkESComponent(Gate SOURCES gate.c LIBS sel4sync)
DeclareCAmkESRootserver(lanes.camkes)
"""

SYSTEM = """
import <std_connector.camkes>;
connector Lane { from Procedures; to Procedure; }
connector Sums { from Procedure; to Procedure; }
procedure Pass { int pass(in int number); }
procedure Sum { int sum(in int a, in int b); }
component Car { control; uses Pass lane; uses Sum sums; }
component Gate { provides Pass lane; has binary_semaphore free; }
component Adder { provides Sum sums; }
assembly {
    composition {
        component Car car; component Car other; component Gate gate;
        component Adder adder; component Adder second;
        connection Lane lane(from car.lane, from other.lane, to gate.lane);
        connection Sums sums(from car.sums, to adder.sums);
        connection Sums sums2(from other.sums, to second.sums);
    }
    configuration { car._priority = 100; other._priority = 90; gate.lane_priority = 110; }
}
"""

LANE_FROM = """
#include <camkes.h>
/*- set endpoint = alloc('lane', seL4_EndpointObject, write=True, grantreply=True) -*/
/*- do cap_space.cnode[endpoint].set_badge(me.parent.from_ends.index(me) + 1) -*/
int /*? me.interface.name ?*/_pass(int number)
{
    seL4_SetMR(0, (seL4_Word)number);
    seL4_Call(/*? endpoint ?*/, seL4_MessageInfo_new(0, 0, 0, 1));
    return (int)seL4_GetMR(0);
}
int /*? me.interface.name ?*/_lanes(void) { return /*? len(me.parent.from_ends) ?*/; }
"""

LANE_TO = """
#include <camkes.h>
#include <platsupport/sync/spinlock.h>
#include <stdio.h>
#include <sync/mutex.h>
#include <sync/sem.h>
/*- set endpoint = alloc('lane', seL4_EndpointObject, read=True) -*/
/*- set wait = alloc('wait', seL4_EndpointObject, read=True, write=True) -*/
/*- set free = alloc('free', seL4_NotificationObject, read=True, write=True) -*/
/*- if options.realtime -*/
/*- set reply = alloc('reply', seL4_RTReplyObject) -*/
/*- endif -*/
static sync_mutex_t mutex;
static void primitives(void)
{
    sync_sem_t semaphore;
    sync_spinlock_t lock;
    int good = sync_sem_init(&semaphore, /*? wait ?*/, 1) == 0;
    good += sync_sem_wait(&semaphore) == 0 && sync_sem_trywait(&semaphore) == -1;
    good += sync_sem_post(&semaphore) == 0 && sync_sem_trywait(&semaphore) == 0;
    good += sync_mutex_init(NULL, /*? free ?*/) == -1 && sync_bin_sem_init(&mutex, /*? free ?*/, 2) == -1;
    good += sync_spinlock_init(&lock) == 0 && sync_spinlock_lock(&lock) == 0;
    good += sync_spinlock_trylock(&lock) == 1 && sync_spinlock_unlock(&lock) == 0;
    good += sync_spinlock_trylock(&lock) == 0;
    printf("%d of 7\\n", good);
}
int /*? me.interface.name ?*/_pass(int number);
int /*? me.interface.name ?*/__run(void)
{
    primitives();
    sync_mutex_init(&mutex, /*? free ?*/);
    seL4_Word badge;
    /*? generate_seL4_Recv(options, endpoint, '&badge', reply) ?*/;
    for (;;) {
        sync_mutex_lock(&mutex);
        seL4_SetMR(0, (seL4_Word)(/*? me.interface.name ?*/_pass((int)seL4_GetMR(0)) + (int)badge));
        sync_mutex_unlock(&mutex);
        seL4_MessageInfo_t answer = seL4_MessageInfo_new(0, 0, 0, 1);
        /*? generate_seL4_ReplyRecv(options, endpoint, 'answer', '&badge', reply) ?*/;
    }
}
"""

SHARED = """
#include <camkes.h>
/*- set name = c_symbol('numbers') -*/
struct { int numbers[1024]; } /*? name ?*/ __attribute__((aligned(4096), used));
/*? register_shared_variable('%s_numbers' % me.parent.name, name, 4096, perm='RW') ?*/
/*- set go = alloc('go', seL4_NotificationObject, read=True, write=True) -*/
/*- set done = alloc('done', seL4_NotificationObject, read=True, write=True) -*/
"""

SUMS_FROM = (
    SHARED
    + """
int /*? me.interface.name ?*/_sum(int a, int b)
{
    /*? name ?*/.numbers[0] = a;
    /*? name ?*/.numbers[1] = b;
    seL4_Signal(/*? go ?*/);
    seL4_Wait(/*? done ?*/, NULL);
    return /*? name ?*/.numbers[2];
}
"""
)

SUMS_TO = (
    SHARED
    + """
int /*? me.interface.name ?*/__run(void)
{
    for (;;) {
        seL4_Wait(/*? go ?*/, NULL);
        /*? name ?*/.numbers[2] = /*? name ?*/.numbers[0] + /*? name ?*/.numbers[1];
        seL4_Signal(/*? done ?*/);
    }
}
"""
)

CAR = """
#include <camkes.h>
#include <lanes/gen_config.h>
#include <stdio.h>
#define TEXT(word) TEXT_OF(word)
#define TEXT_OF(word) #word
int run(void)
{
    printf("%s of %d: %d %d\\n", get_instance_name(), lane_lanes(), lane_pass(40), sums_sum(20, 22));
#ifdef CONFIG_LANES_LOUD
    printf("loud\\n");
#endif
#ifdef CONFIG_LANES_LOUDER
    printf("louder\\n");
#endif
#ifdef CONFIG_LANES_FULL
    printf("full\\n");
#endif
#ifdef CONFIG_LANES_LEFT
    printf("left %s\\n", TEXT(SIDE));
#endif
#ifdef CONFIG_LANES_RIGHT
    printf("right\\n");
#endif
    printf("%s %d %s\\n", CONFIG_LANES_NAME, CONFIG_LANES_SPEED, TEXT(CONFIG_LANES_SIDE));
    return 0;
}
"""

FILES = {
    "CMakeLists.txt": LISTS,
    "lanes.camkes": SYSTEM,
    "templates/lane-from.c": LANE_FROM,
    "templates/lane-from.h": "int /*? me.interface.name ?*/_lanes(void);\n",
    "templates/lane-to.c": LANE_TO,
    "templates/sums-from.c": SUMS_FROM,
    "templates/sums-to.c": SUMS_TO,
    "car.c": CAR,
    "gate.c": "#include <camkes.h>\nint lane_pass(int number) { return number + 1; }\n",
}

QUIET = "full\nleft left\nA1 50 left\n"


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is not trusted."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return write_files(tmp_path / "lanes", FILES)


@pytest.fixture
def project(stranger: Path) -> Path:
    assert camkes("trust", stranger).status == 0
    return stranger


@pytest.mark.parametrize("more", [(), ("-D", "KernelIsMCS=ON"), ("--fast",), ("--sanitize",)], ids=" ".join)
def test_their_code_runs(project: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    """Capabilities with badges, shared memory, locks, headers and threads are those of the templates; a
    component that has nothing else to do needs no sources."""
    done = camkes("run", project, "-q", "-o", tmp_path / "out", *more)
    assert done.status == 0, done.errors
    assert done.output == f"7 of 7\ncar of 2: 42 42\n{QUIET}other of 2: 43 42\n{QUIET}"


def test_options_of_an_application_are_seen_by_its_code(project: Path, tmp_path: Path) -> None:
    chosen = ("-D", "LanesLoud=ON", "-D", "LanesName=B2", "-D", "LanesSpeed=7", "-D", "LanesSide=right")
    done = camkes("run", project, "-q", "-o", tmp_path / "out", *chosen)
    assert done.status == 0, done.errors
    words = "loud\nlouder\nright\nB2 7 right\n"
    assert done.output == f"7 of 7\ncar of 2: 42 42\n{words}other of 2: 43 42\n{words}"


def test_what_did_not_change_is_not_built_again(project: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert camkes("build", project, "-o", out).status == 0
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.[oh]")}
    assert camkes("build", project, "-o", out).status == 0
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.[oh]")} == before


def test_all_schedules_are_searched(project: Path, tmp_path: Path) -> None:
    done = camkes("explore", project, "--json", "-o", tmp_path / "out")
    assert done.status == 0, done.errors
    found = json.loads(done.output)
    assert found["violation"] is None
    assert [each["verdict"] for each in found["passes"] if each["scheduling"] == "fifo"] == ["exhausted"] * 2
    assert not any("libraries" in str(each) for each in found["not_searched"])


@pytest.mark.long
@pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no seL4 workspace")
def test_an_image_prints_the_same(project: Path, tmp_path: Path) -> None:
    on_sel4 = ("--kernel", "sel4", "--workspace", WORKSPACE)
    done = camkes("build", project, *on_sel4, "-o", tmp_path, "-D", "LanesSide=right")
    assert done.status == 0, done.errors
    wanted = {"7 of 7", "full", "right", "A1 50 right", "car of 2: 42 42", "other of 2: 43 42"}
    for line in console(tmp_path, seconds=60):
        wanted -= {line.rstrip()}
        if not wanted:
            break
    assert not wanted


@pytest.mark.parametrize(
    ("asked", "lack"),
    [
        ("alloc('line', seL4_IRQHandler, number=7)", "an interrupt"),
        ("alloc('all', seL4_UntypedObject, size_bits=12)", "untyped memory"),
        ("alloc_obj('device', seL4_FrameObject, paddr=4096)", "memory at address 0x1000"),
        ("alloc('own', seL4_TCBObject)", "a thread that the component starts itself"),
    ],
)
def test_what_only_a_machine_has_is_refused(project: Path, asked: str, lack: str) -> None:
    template = project / "templates/lane-to.c"
    template.write_text(f"/*- set asked = {asked} -*/\n{LANE_TO}")
    done = camkes("build", project, "-o", project / "out")
    assert done.status == 1
    assert done.errors.count("error[") == 1
    words = f"`gate.lane` of Lane needs the seL4 kernel: its template asks for {lack}"
    assert f"error[E0651]: {words}\n" in done.errors
    line = next(n for n, text in enumerate(SYSTEM.splitlines(), 1) if "to gate.lane" in text)
    column = SYSTEM.splitlines()[line - 1].index("gate.lane") + 1
    assert f"lanes.camkes:{line}:{column}\n" in done.errors


def test_a_component_with_more_to_do_needs_sources(project: Path) -> None:
    system = project / "lanes.camkes"
    system.write_text(system.read_text().replace("component Adder {", "component Adder { control;"))
    done = camkes("check", project)
    assert done.status == 1
    assert "error[E0714]: component `Adder` is not declared in CMakeLists.txt" in done.errors


def test_templates_of_a_folder_that_is_not_trusted_do_not_run(stranger: Path) -> None:
    """They are programs. It is said once, and nothing of them is executed, whatever they are included by."""
    victim = stranger.parent / "victim"
    for name in ("lane-from.c", "lane-to.c", "sums-from.c"):
        with (stranger / "templates" / name).open("a") as template:
            template.write(f"/*- do open('{victim}', 'w') -*/")
    done = camkes("build", stranger, "-o", stranger / "out")
    assert done.status == 1 and done.errors.count("error[") == 1
    assert "error[E0712]: this needs a template, which is a program in Python" in done.errors
    assert f"run `camkes trust {stranger / 'templates'}`" in done.errors
    assert camkes("check", stranger).status == 0
    assert not victim.exists()
    assert camkes("trust", stranger / "templates").status == 0
    assert camkes("build", stranger, "-o", stranger / "out").status == 0
    assert victim.exists()


def test_templates_of_the_named_workspace_may_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not those of an application in it, nor those that a path through it leads to."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    workspace, folder = tmp_path / "ws", tmp_path / "ws/projects/app"
    assert allows_template(workspace / "projects/global/t.c", workspace, folder)
    assert not allows_template(folder / "t.c", workspace, folder)
    assert not allows_template(workspace / "../evil/t.c", workspace, folder)
    assert not allows_template(workspace / "projects/global/../app/t.c", workspace, folder)
    assert not allows_template(workspace / "projects/global/t.c", None, folder)


def test_a_workspace_is_the_same_however_it_is_named(stranger: Path, tmp_path: Path) -> None:
    """Its templates may run, and those of an application that is linked in it may not."""
    marks = ("kernel/CMakeLists.txt", "tools/seL4/cmake-tool/x", "tools/camkes-tool/x")
    files = dict.fromkeys((*marks, "projects/camkes-tool/x"), "")
    package = 'set(LANES_DIR "${CMAKE_CURRENT_LIST_DIR}" CACHE STRING "")\n'
    workspace = write_files(tmp_path / "ws", {**files, "projects/lanes/Findlanes.cmake": package})
    (stranger / "templates").rename(workspace / "projects/lanes/templates")
    lists = LISTS.replace("TemplatesPath(templates)", 'TemplatesPath("${LANES_DIR}/templates")')
    (stranger / "CMakeLists.txt").write_text(lists)
    for name in (workspace, "../ws", "../lanes/../ws/"):
        done = camkes("build", stranger, "--workspace", name, "-o", tmp_path / "out", cwd=stranger)
        assert done.status == 0, done.errors
    (workspace / "projects/own").symlink_to(stranger)
    (workspace / "projects/lanes/templates").rename(stranger / "templates")
    (stranger / "CMakeLists.txt").write_text(lists.replace("/templates", "/../own/templates"))
    done = camkes("build", stranger, "--workspace", workspace, "-o", tmp_path / "out")
    assert done.status == 1 and "error[E0712]: this needs a template" in done.errors
    (stranger / "templates").rename(workspace / "projects/lanes/templates")
    write_files(tmp_path / "evil", {"t.c": LANE_FROM})  # beside what the link leads to
    (stranger / "CMakeLists.txt").write_text(lists.replace("lane-from.c", "../../own/../evil/t.c"))
    done = camkes("build", stranger, "--workspace", workspace, "-o", tmp_path / "out")
    assert done.status == 1 and "error[E0958]: there is no template" in done.errors


def test_a_template_that_is_not_there(project: Path) -> None:
    (project / "templates/sums-to.c").unlink()
    done = camkes("build", project, "-o", project / "out")
    assert done.status == 1
    assert 'error[E0958]: there is no template "sums-to.c"' in done.errors
