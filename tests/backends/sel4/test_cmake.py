# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The CMake package in a workspace that has no kernel: what is declared, generated and handed on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from camkes.project.cmake import find_cmake

from .project import project

pytestmark = pytest.mark.requirement("SEL4-13")

ROOT = Path(__file__).parents[3]
STANDIN = Path(__file__).parent / "standin"

ADL = """
import <std_connector.camkes>;
procedure Sum { int add(in int a, in int b); }
component Client { control; uses Sum s; }
component Server { provides Sum s; }
assembly { composition {
    component Client client; component Server one; component Server two;
    connection seL4RPCCall c(from client.s, to one.s);
} }
"""


def configure(folder: Path, lists: str, *options: str) -> subprocess.CompletedProcess[str]:
    application = folder / "application"
    application.mkdir(exist_ok=True)
    (application / "CMakeLists.txt").write_text(lists)
    (application / "system.camkes").write_text(ADL)
    for name in ("client.c", "server.c", "more.c"):
        (application / name).write_text("/* */\n")
    return cmake(folder, *options)


def cmake(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Configure the application in `folder` for the standin, with ninja if that is there."""
    command = [
        find_cmake() or "cmake",
        f"-DCAMKES_ROOT={ROOT}",
        f"-DSTANDIN_PYTHON={sys.executable}",
        f"-DCAmkESPython={sys.executable}",
        "-DCMAKE_C_ABI_COMPILED=TRUE",  # what the compiler can do is not asked
        f"-DSTANDIN_APPLICATION={folder / 'application' / 'CMakeLists.txt'}",
        *options,
        "-S",
        str(STANDIN),
        "-B",
        str(folder / "build"),
    ]
    if shutil.which("ninja"):
        command += ["-G", "Ninja"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


LISTS = """
DeclareCAmkESComponent(Client SOURCES client.c C_FLAGS -DONE)
DeclareCAmkESComponent(Client C_FLAGS -DTWO)
DeclareCAmkESComponent(Server SOURCES server.c INCLUDES general)
ExtendCAmkESComponentInstance(Server two SOURCES more.c INCLUDES special)
DeclareCAmkESRootserver(system.camkes CPP_FLAGS -DX=1 CPP_INCLUDES include)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("cmake")
    done = configure(folder, LISTS)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.mark.long
def test_the_tool_gets_the_declarations(built: tuple[Path, str]) -> None:
    folder, _ = built
    project = json.loads((folder / "build" / "camkes-project.json").read_text())
    assert project["adl"] == str(folder / "application" / "system.camkes")
    assert project["architecture"] == "x86_64"
    include = f"-I{folder / 'application' / 'include'}"
    assert include in project["cpp_flags"] or "-I" in "".join(project["cpp_flags"])
    assert {"-DX=1", "-DCAMKES_TOOL_PROCESSING"} <= set(project["cpp_flags"])
    assert project["import_paths"] == [str(STANDIN / "helpers" / "camkes-tool" / "components")]


@pytest.mark.long
def test_an_image_for_each_address_space(built: tuple[Path, str]) -> None:
    folder, output = built
    assert "standin: DeclareRootserver capdl-loader" in output
    for space in ("client", "one", "two"):
        assert f"{folder / 'build' / space}.elf" in output
        assert (folder / "build" / "spaces" / f"{space}.c").is_file()
    spec = msgspec.msgpack.decode((folder / "build" / "camkes-spec.msgpack").read_bytes())
    assert [space["name"] for space in spec["spaces"]] == ["client", "one", "two"]


def test_sources_flags_and_include_folders(built: tuple[Path, str]) -> None:
    folder, _ = built
    ninja = folder / "build" / "build.ninja"
    if not ninja.is_file():
        pytest.skip("ninja is not installed")
    blocks = {}
    for block in ninja.read_text().split("\n\n"):
        first = next((line for line in block.splitlines() if line.startswith("build ")), "")
        blocks[first.partition(":")[0].removeprefix("build ").split("/")[-1], first] = block
    found = {key: block for key, block in blocks.items() if ".instance.dir" in key[1]}
    client = next(b for (name, _), b in found.items() if name == "client.c.o")
    assert "-DONE -DTWO" in client
    more = [b for (name, _), b in found.items() if name == "more.c.o"]
    assert len(more) == 1, "only instance `two` has more.c"
    includes = next(line for line in more[0].splitlines() if "INCLUDES" in line)
    assert includes.index("special") < includes.index("general")


@pytest.mark.long
def test_unchanged_files_are_not_written_again(built: tuple[Path, str]) -> None:
    folder, _ = built
    files = [p for p in (folder / "build").rglob("*") if p.suffix in (".c", ".h") and "CMake" not in str(p)]
    before = {path: path.stat().st_mtime_ns for path in files}
    assert before
    assert configure(folder, LISTS).returncode == 0
    assert {path: path.stat().st_mtime_ns for path in files} == before


@pytest.mark.mostly_long(
    "-no system was declared", "DeclareCAmkESComponent(Client WRONG client.c)-does not know what these are"
)
@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ("", "no system was declared"),
        ("DeclareCAmkESRootserver(system.camkes)\nDeclareCAmkESRootserver(system.camkes)", "has one system"),
        ("DeclareCAmkESComponent(Client WRONG client.c)", "does not know what these are"),
        ("DeclareCAmkESRootserver(system.camkes DTS_FILE_PATH a DTB_FILE_PATH b)", "exclude each other"),
        (
            "DeclareCAmkESRootserver(system.camkes)\nGenerateCAmkESRootserver()\nCAmkESAddImportPath(x)",
            "too late to be seen",
        ),
    ],
)
def test_mistakes(tmp_path: Path, lists: str, message: str) -> None:
    done = configure(tmp_path, lists)
    assert done.returncode != 0
    assert message in " ".join(done.stderr.split())


@pytest.mark.long
@pytest.mark.parametrize(
    ("option", "why"),
    [
        ("CAmkESRPCLockElision=OFF", "which is what ON asks for"),
        ("CAmkESTLSModel=per-thread", "no code reads it, here and in camkes-tool"),
    ],
)
def test_an_option_without_effect_is_a_warning(option: str, why: str, tmp_path: Path) -> None:
    done = configure(tmp_path, LISTS, f"-D{option}")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stderr.split())
    assert f"{option} has no effect" in text
    assert why in text


def test_static_allocation_on_a_pc_is_refused(tmp_path: Path) -> None:
    done = configure(tmp_path, LISTS, "-DCAmkESCapDLStaticAlloc=ON")
    assert done.returncode != 0
    assert "the memory of a PC is not known before it boots" in " ".join(done.stderr.split())


@pytest.mark.long
def test_the_tables_of_the_loader_are_the_tools(built: tuple[Path, str]) -> None:
    folder, output = built
    assert f"BuildCapDLApplication C_SPEC;{folder / 'build' / 'capdl_spec.c'};" in output
    assert "CapDLToolCFileGen" not in output


@pytest.mark.long
@pytest.mark.parametrize("named", [True, False])
def test_parse_capdl_makes_the_tables(named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that is named, else one on PATH."""
    program = tmp_path / "bin" / "parse-capDL"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    if not named:
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    done = configure(tmp_path, LISTS, f"-DCAmkESParseCapDL={program if named else 'ON'}")
    assert done.returncode == 0, done.stderr
    assert "BuildCapDLApplication C_SPEC;parse-capDL.c;" in done.stdout
    (made,) = (line for line in done.stdout.splitlines() if "CapDLToolCFileGen parse-capDL.c;" in line)
    assert made.endswith(f";{program}")


@pytest.mark.long
def test_a_parse_capdl_that_is_not_there(tmp_path: Path) -> None:
    done = configure(tmp_path, LISTS, "-DCAmkESParseCapDL=/nowhere/parse-capDL")
    assert done.returncode != 0
    assert "CAmkESParseCapDL is OFF, ON or a program, and there is no /nowhere" in " ".join(
        done.stderr.split()
    )


@pytest.mark.long
@pytest.mark.skipif(
    shutil.which("parse-capDL") is not None or shutil.which("stack") is not None,
    reason="parse-capDL, or stack to build it, is installed",
)
def test_without_parse_capdl_and_stack_the_error_names_a_remedy(tmp_path: Path) -> None:
    assert configure(tmp_path, LISTS).returncode == 0, "it is not needed"
    done = configure(tmp_path, LISTS, "-DCAmkESParseCapDL=ON")
    assert done.returncode != 0
    assert "`repo-init.sh -p` builds it with ghc" in " ".join(done.stderr.split())


def test_a_repository_inside_the_folder_of_the_c_library(tmp_path: Path) -> None:
    """Its build deletes files of a copy, and stops at a folder where it expects a file."""
    library = tmp_path / "musllibc"
    (library / ".git").mkdir(parents=True)
    script = tmp_path / "check.cmake"
    script.write_text(
        f'set(MUSLLIBC_CURRENT_DIR "{tmp_path}/link")\n'
        f'include("{ROOT}/cmake/workspace.cmake")\n'
        "camkes_check_workspace()\n"
        "message(STATUS ${MUSLLIBC_CURRENT_DIR})\n"
    )
    (tmp_path / "link").symlink_to(library)
    command = [find_cmake() or "cmake", "-P", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"git -C {library} init --separate-git-dir=" in done.stderr
    (library / ".git").rmdir()
    (library / ".git").write_text("gitdir: elsewhere\n")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith(str(library)), (
        "a link is followed: the copy would be the folder itself"
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "option",
    ["CAmkESDMALargeFramePromotion=ON", "CAmkESConnectorTiming=ON", "CAmkESErrorHandlingMode=Guards"],
)
def test_an_option_with_an_effect_gives_no_warning(option: str, tmp_path: Path) -> None:
    done = configure(tmp_path, LISTS, f"-D{option}")
    assert done.returncode == 0, done.stderr
    assert "effect" not in done.stderr
    large = json.loads((tmp_path / "build" / "camkes-project.json").read_text())["large_dma_frames"]
    assert large is ("DMA" in option)


@pytest.mark.long
def test_defaults_give_no_warning(built: tuple[Path, str], tmp_path: Path) -> None:
    same = ("RPCLockElision=1", "LargeFramePromotion=ON", "ConnectorTiming=OFF", "TLSModel=standard")
    done = configure(tmp_path, LISTS, *(f"-DCAmkES{option}" for option in same))
    assert "effect" not in done.stderr
    assert "camkes: " not in built[1]


@pytest.mark.long
def test_verbose_lists_the_written_files(tmp_path: Path) -> None:
    done = configure(tmp_path, LISTS, "-DCAmkESVerbose=ON")
    assert "camkes: read " in done.stdout
    assert "camkes: address space client: 2 threads" in done.stdout
    assert "camkes: generated " in done.stdout


@pytest.mark.long
def test_errors_of_the_system_stop_cmake(tmp_path: Path) -> None:
    lists = LISTS.replace("system.camkes", "wrong.camkes")
    (tmp_path / "application").mkdir()
    (tmp_path / "application" / "wrong.camkes").write_text("assembly { composition { component None x; } }")
    done = configure(tmp_path, lists)
    assert done.returncode != 0
    assert "error[" in done.stderr
    assert "wrong.camkes" in done.stderr


def generate(adl: Path, output: Path, **machine: object) -> subprocess.CompletedProcess[str]:
    """What CMake has the tool do, for a PC or another `machine`."""
    (output / "project.json").write_text(json.dumps(project(adl, output, **machine)))
    tool = [sys.executable, "-m", "camkes.cli.sel4", "generate", str(output / "project.json")]
    return subprocess.run(tool, cwd=ROOT, capture_output=True, text=True, check=False)


EXAMPLES = ["adder", "events", "dataport", "hierarchy", "protocols", "nested", "inversion"]


@pytest.mark.long
@pytest.mark.parametrize("name", EXAMPLES)
def test_generated_code_compiles(name: str, tmp_path: Path) -> None:
    """Against the seL4 API of the host kernel's headers, as code for seL4."""
    compiler = shutil.which("cc")
    assert compiler is not None
    example = ROOT / "examples" / name
    done = generate(example / f"{name}.camkes", tmp_path)
    assert done.returncode == 0, done.stderr
    sources = sorted(tmp_path.rglob("*.c"))
    assert sources
    for source in sources:
        folders = [
            *(source.parent, STANDIN / "include", ROOT / "runtime" / "include", ROOT / "runtime" / "src"),
            ROOT / "runtime" / "src" / "platform" / "sel4",
            *(ROOT / "kernel" / "sel4" / "timer", ROOT / "kernel" / "host" / "include", example),
            example / "include",
        ]
        flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *(f"-I{f}" for f in folders)]
        made = subprocess.run([compiler, *flags, str(source)], capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr


@pytest.mark.long
def test_connectors_without_a_template_are_errors_at_the_connection(tmp_path: Path) -> None:
    lists = LISTS.replace("system.camkes", "hardware.camkes")
    (tmp_path / "application").mkdir()
    (tmp_path / "application" / "hardware.camkes").write_text(
        """
        import <std_connector.camkes>;
        component Device { hardware; dataport Buf registers; }
        component Driver { control; dataport Buf registers; }
        assembly { composition { component Device device; component Driver driver;
            connection seL4HardwareMMIO mmio(from driver.registers, to device.registers); }
            configuration { device.registers_paddr = 4096; device.registers_size = 4096; } }
        """
    )
    done = configure(tmp_path, lists)
    assert done.returncode != 0
    assert "there is no template for seL4HardwareMMIO" in done.stderr
    assert "hardware.camkes:6" in done.stderr


@pytest.mark.long
def test_a_task_where_there_is_no_timer(tmp_path: Path) -> None:
    adl = ROOT / "examples" / "inversion" / "inversion.camkes"
    done = generate(adl, tmp_path, architecture="riscv64", platform="spike")
    assert done.returncode == 1
    lines = adl.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        if "_period" in line:
            assert f"inversion.camkes:{number}:" in done.stderr
    assert done.stderr.count("error[E0952]") == sum("_period" in line for line in lines)
    assert "spike has no timer" in done.stderr


CLAIM = """/*- set slot = alloc("n", seL4_NotificationObject) -*/
/*- do alloc_obj("irq", seL4_IRQHandler, %s, notification=my_cnode[slot]) -*/
"""
PORTS = '/*- do alloc_obj("ports", seL4_IA32_IOPort, start_port=%d, end_port=%d) -*/\n'


@pytest.mark.long
@pytest.mark.parametrize(
    ("template", "clash"),
    [
        (CLAIM % "vector=7, ioapic=0, ioapic_pin=2, level=0, polarity=0", "irq"),
        (CLAIM % "vector=42, ioapic=0, ioapic_pin=5, level=0, polarity=0", "irq"),
        (PORTS % (0x43, 0x44), "ports"),
        (CLAIM % "vector=7, ioapic=0, ioapic_pin=5, level=0, polarity=0", ""),
        (PORTS % (0x44, 0x48), ""),
    ],
)
def test_a_component_that_drives_the_timer_of_the_tasks(template: str, clash: str, tmp_path: Path) -> None:
    adl = tmp_path / "a.camkes"
    adl.write_text(
        """connector Claim { from Event; to Event; }
component Task { control; requestor; emits E e; }
component Driver { consumes E e; }
assembly {
    composition { component Task t; component Driver d; connection Claim c(from t.e, to d.e); }
    configuration { t._priority = 10; t._period = 10 ms; }
}
"""
    )
    (tmp_path / "from.c").write_text("")
    (tmp_path / "to.c").write_text(template)
    declared = {"templates": {"FROM": "from.c", "TO": "to.c"}, "from_libs": [], "to_libs": []}
    done = generate(adl, tmp_path, template_paths=[str(tmp_path)], connectors={"Claim": declared})
    assert done.returncode == bool(clash), done.stderr
    if clash:
        assert "error[E0963]" in done.stderr and "a.camkes:6:" in done.stderr
        assert f"`c::{clash}`" in done.stderr


@pytest.mark.long
def test_a_time_server_where_there_is_no_timer(tmp_path: Path) -> None:
    adl = ROOT / "examples" / "timer" / "timer.camkes"
    done = generate(adl, tmp_path, architecture="aarch32", platform="omap3")
    assert done.returncode == 1
    number = next(n for n, line in enumerate(adl.read_text().splitlines(), 1) if "seL4TimeServer" in line)
    assert f"timer.camkes:{number}:" in done.stderr
    assert "no timer driver for omap3" in done.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("machine", "clock"),
    [
        ({"architecture": "aarch32", "platform": "imx6"}, True),
        ({"architecture": "riscv64", "platform": "qemu-riscv-virt"}, False),
    ],
)
def test_registers_are_mapped_as_a_device(machine: dict[str, str], clock: bool, tmp_path: Path) -> None:
    """Only the driver can write them; where they tell the time, everybody can read them."""
    done = generate(ROOT / "examples" / "inversion" / "inversion.camkes", tmp_path, **machine)
    assert done.returncode == 0, done.stderr
    spec = msgspec.msgpack.decode((tmp_path / "camkes-spec.msgpack").read_bytes())
    for space in spec["spaces"]:
        found = [m for m in space["mappings"] if m["symbol"] == "_camkes_timer_registers"]
        driver = space["name"] == "timer-driver"
        assert [(m["rights"], m["cached"]) for m in found] == (
            [("RW", False)] if driver else [("R", False)] if clock else []
        )


@pytest.mark.parametrize(
    ("machine", "driven"),
    [
        ({"platform": "imx6"}, True),
        ({"platform": "imx6", "verification": True}, False),
        ({"platform": "qemu-arm-virt", "generic_timer": True}, False),
    ],
)
def test_a_clock_without_timers(machine: dict[str, object], driven: bool, tmp_path: Path) -> None:
    """Code that consumes time goes on where the clock must be driven, also in a system without tasks, and
    where nothing drives it."""
    adl = ROOT / "examples" / "dataport" / "dataport.camkes"
    done = generate(adl, tmp_path, architecture="aarch32", **machine)
    assert done.returncode == 0, done.stderr
    spec = msgspec.msgpack.decode((tmp_path / "camkes-spec.msgpack").read_bytes())
    assert ("timer-driver" in [space["name"] for space in spec["spaces"]]) is driven
    table = tmp_path / "spaces" / "timers.c"
    assert table.exists() is driven
    assert not driven or "camkes_timer_count = 0;" in table.read_text()
    stopped = 'set(CAMKES_CLOCK_STOPPED "1")' in (tmp_path / "camkes-gen.cmake").read_text()
    assert stopped is (machine["platform"] == "imx6" and not driven)
