# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""SDKs: what their files may be, which configuration is chosen, and images equal to those of the workspace.

Images need a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps the builds for the next time.
"""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import shutil
import struct
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes import pipeline
from camkes.backends.sel4.codes import NOT_IN_SDK
from camkes.backends.sel4.elf import ElfError, read_image, with_content
from camkes.backends.sel4.sdk import elfloader
from camkes.backends.sel4.sdk.archive import (
    MEMBER,
    ArchiveError,
    Sdk,
    open_sdk,
    read_description,
    write_archive,
)
from camkes.backends.sel4.sdk.choice import choose, opened
from camkes.backends.sel4.sdk.cpio import write_cpio
from camkes.backends.sel4.sdk.description import (
    BootLoader,
    Description,
    DescriptionError,
    Firmware,
    PlacedSource,
    ToolCommand,
    is_inside,
)
from camkes.backends.sel4.sdk.pack import pack
from camkes.backends.sel4.workspace import can_be_mapped, console, make
from camkes.cli.commands import sdks
from camkes.cli.main import main
from camkes.diagnostics import Sink
from tests.backends.sel4.platforms import PLATFORMS, SDK_PLATFORMS
from tests.backends.sel4.small_sdk import COMMAND, CONTENT, NAME, configuration, description, write_small_sdk
from tests.command import camkes
from tests.diagnostics.test_commands import limited_files
from tests.documents import conforming
from tests.written import write_files

pytestmark = pytest.mark.requirement("SEL4-11")

EXAMPLES = Path(__file__).parents[3] / "examples"
WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("SEL4_BUILDS") or str(tmp_path / "cache"))


# the file


def test_what_is_packed_is_unpacked(tmp_path: Path) -> None:
    sdk = open_sdk(write_small_sdk(tmp_path / "small.sdk"))
    assert sdk.description == description()
    assert {name: (sdk.folder / name).read_bytes() for name in CONTENT} == CONTENT
    assert open_sdk(tmp_path / "small.sdk") == sdk


def test_the_same_content_makes_the_same_file(tmp_path: Path) -> None:
    one, other = (write_small_sdk(tmp_path / name).read_bytes() for name in ("one.sdk", "other.sdk"))
    assert one == other


def test_a_file_that_was_replaced_is_unpacked_again(tmp_path: Path) -> None:
    file = write_small_sdk(tmp_path / "small.sdk")
    before = open_sdk(file)
    write_archive(file, replace(description(), version="2.0"), CONTENT)
    after = open_sdk(file)
    assert (before.description.version, after.description.version) == ("1.0", "2.0")
    assert before.folder != after.folder


def test_what_is_in_use_stays_unpacked(tmp_path: Path) -> None:
    """However many others are unpacked meanwhile, of which older ones are forgotten."""
    file = write_small_sdk(tmp_path / "small.sdk")
    used = open_sdk(file)
    others = []
    for number in range(20):
        for folder in used.folder.parent.iterdir():  # all is from long ago
            os.utime(folder, (number, number))
        write_archive(tmp_path / "other.sdk", replace(description(), version=f"2.{number}"), CONTENT)
        assert open_sdk(file) == used
        others.append(open_sdk(tmp_path / "other.sdk").folder)
        assert (used.folder / MEMBER).is_file()
    assert not all(folder.exists() for folder in others)


def test_what_was_unpacked_and_damaged_is_unpacked_again(tmp_path: Path) -> None:
    sdk = open_sdk(write_small_sdk(tmp_path / "small.sdk"))
    (sdk.folder / MEMBER).write_text("{}")
    assert open_sdk(tmp_path / "small.sdk") == sdk


def hostile(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], said: bytes | None = None) -> Path:
    """An archive with a description and members of all kinds."""
    text = description().write() if said is None else said
    first = tarfile.TarInfo(MEMBER)
    first.size = len(text)
    with gzip.open(path, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for member, data in [(first, text), *members]:
            tar.addfile(member, io.BytesIO(data))
    return path


def member(name: str, data: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


WHOLE = [member(name, data) for name, data in CONTENT.items()]


@pytest.mark.parametrize(
    ("members", "why"),
    [
        (WHOLE[:-1], "missing"),
        ([*WHOLE, member("other", b"x")], "does not name"),
        ([*WHOLE, member("../outside", b"x")], "does not name"),
        ([*WHOLE, member("/tmp/outside", b"x")], "does not name"),
        ([*WHOLE, WHOLE[0]], "does not name"),
        ([member(NAME, type=tarfile.SYMTYPE, linkname="/etc/passwd")], "not a plain file"),
        ([member(NAME, type=tarfile.LNKTYPE, linkname=MEMBER)], "not a plain file"),
        ([member(NAME, type=tarfile.CHRTYPE, devmajor=1, devminor=3)], "not a plain file"),
        ([member(NAME, b"A kernel\n")], "SHA-256"),
        ([member(NAME, b"a kernel that is longer\n")], "size"),
    ],
)
def test_an_archive_that_differs_from_its_description(
    members: list[tuple[tarfile.TarInfo, bytes]], why: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    file = hostile(tmp_path / "in" / "hostile.sdk", members)
    with pytest.raises(ArchiveError, match=why):
        open_sdk(file)
    assert not list(tmp_path.rglob("outside"))
    assert not list(tmp_path.glob("cache/camkes-rt/sdk/*/sdk.json"))


@pytest.mark.parametrize(
    "data",
    [b"", b"PK", gzip.compress(b"text", mtime=0), gzip.compress(bytes(10240), mtime=0)],
    ids=["empty", "other", "text", "zeros"],
)
def test_another_file(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "other.sdk"
    file.write_bytes(data)
    with pytest.raises(ArchiveError):
        read_description(file)
    with pytest.raises(ArchiveError):
        open_sdk(file)


def test_another_version_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = hostile(tmp_path / "later.sdk", [], json.dumps({"schema": "camkes-sdk 99", "all": []}).encode())
    words = ["build", str(EXAMPLES / "adder"), "--kernel", "sel4", "--sdk", str(file)]
    assert main([*words, "-o", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "another version of camkes: its description is 'camkes-sdk 99', and this one reads" in said
    assert not (tmp_path / "out").exists()


def test_without_space_an_old_sdk_stays(tmp_path: Path) -> None:
    file = write_small_sdk(tmp_path / "small.sdk")
    before = file.read_bytes()
    with limited_files(64), pytest.raises(OSError, match="large"):
        write_small_sdk(file)
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["small.sdk"]
    assert file.read_bytes() == before


def test_without_space_nothing_is_unpacked(tmp_path: Path) -> None:
    file = write_small_sdk(tmp_path / "small.sdk")
    sink = Sink()
    with limited_files(8):
        assert opened(file, sink, lambda _: None) is None
    assert "small.sdk cannot be unpacked: File too large" in sink.diagnostics[0].message
    assert not [
        each for each in (Path(os.environ["XDG_CACHE_HOME"]) / "camkes-rt").rglob("*") if each.is_file()
    ]


def test_a_reason_names_the_file() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    assert sdks.reason(full, Path("x.sdk")) == "cannot write x.sdk: No space left on device"


def test_an_archive_that_was_cut_off(tmp_path: Path) -> None:
    file = write_small_sdk(tmp_path / "small.sdk")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(ArchiveError):
        open_sdk(file)


# its description


@pytest.mark.parametrize(
    "word",
    [
        "-fplugin=@build@/p.so", "-B@build@", "-specs=@build@/s", "--specs=x", "@file", "-wrapper", "-o",
        "/etc/passwd", "-Wl,-plugin,x", "-Wl,-Map=x", "-Wl,-o,x", "-I/etc", "-I@workspace@/../..", "-dumpdir",
        "-fdump-tree-all", "-Wl,--script=/x", "a.c", "-Xlinker", "-L@build@", "-save-temps", "-I@tool@/../..",
        "-Wp,-MD,x", "-MF", "-L/x", "-Wl,--dynamic-linker=/x", "-Wl,-rpath,/x",
    ],
)  # fmt: skip
def test_commands_only_compile_and_link(word: str) -> None:
    command = ToolCommand("gcc", ("-g", word))
    with pytest.raises(DescriptionError, match="word"):
        Description.read(description(configuration(loader=command)).write())


@pytest.mark.parametrize(
    "given",
    [
        {"loader": ToolCommand("/bin/sh", ())},
        {"loader": ToolCommand("sh", ())},
        {"objcopy": "../objcopy"},
        {"nm": "rm"},
        {"qemu": ("sh", "-c", "x")},
        {"qemu": ("qemu-system-x86_64", "-hda", "/dev/sda")},
        {"qemu": ("qemu-system-x86_64", "-chardev", "file,path=/x")},
        {"name": "../x"},
        {"name": ".hidden"},
        {"sizes": "@build@/../../x"},
        {"sizes": "/etc/passwd"},
        {"images": {"kernel": "/etc/passwd", "loader": ""}},
        {"images": {"kernel": "@build@/../x", "loader": ""}},
        {"images": {"../kernel": "@build@/x", "loader": ""}},
    ],
)
def test_other_programs_and_places_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(DescriptionError):
        Description.read(description(configuration(**given)).write())


def test_a_description_is_read_as_it_was_written() -> None:
    assert Description.read(description().write()) == description()


@pytest.mark.parametrize("said", [b"{}", b"[", json.dumps({"schema": "camkes-sdk 99"}).encode()])
def test_another_description(said: bytes) -> None:
    with pytest.raises(DescriptionError):
        Description.read(said)


@pytest.mark.parametrize("name", ["", ".", "..", "../a", "/a", "a/../b", "a//b", "a/", "./a", "a\nb", "a\\b"])
def test_a_name_outside(name: str) -> None:
    assert not is_inside(name)


# which configuration is taken


def chosen(definitions: dict[str, str], tmp_path: Path) -> str | None:
    configurations = (
        configuration(),
        configuration(
            name="mcs", definitions={"KernelIsMCS": "ON"}, cache={"KernelIsMCS": "ON", "RELEASE": "OFF"}
        ),
        configuration(
            name="release", definitions={"RELEASE": "ON"}, cache={"RELEASE": "ON", "KernelIsMCS": "OFF"}
        ),
    )
    sdk = Sdk(description(*configurations), tmp_path, "0")
    sink = Sink()
    found = choose(sdk, Path("small.sdk"), definitions, sink)
    assert [each.code for each in sink.diagnostics] == ([] if found is not None else [NOT_IN_SDK])
    return None if found is None else found.name


@pytest.mark.parametrize(
    ("definitions", "name"),
    [
        ({}, "x86_64"),
        ({"KernelIsMCS": "ON"}, "mcs"),
        ({"KernelIsMCS": "1", "PLATFORM": "x86_64"}, "mcs"),
        ({"KernelIsMCS": "OFF"}, "x86_64"),
        ({"RELEASE": "yes"}, "release"),
        ({"RELEASE": "OFF"}, "x86_64"),
        ({"RELEASE": "ON", "KernelIsMCS": "ON"}, None),
        ({"PLATFORM": "qemu-arm-virt"}, None),
        ({"KernelMaxNumNodes": "0x1"}, "x86_64"),
        ({"KernelMaxNumNodes": "2"}, None),
        ({"CAmkESFaultHandlers": "OFF", "MyOption": "3"}, "x86_64"),
    ],
)
def test_the_configuration_that_was_made_with_what_is_asked(
    definitions: dict[str, str], name: str | None, tmp_path: Path
) -> None:
    assert chosen(definitions, tmp_path) == name


def test_list_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_small_sdk(tmp_path / "small.sdk")
    assert main(["sdk", "--list", str(file), "--json"]) == 0
    found = conforming("sdk", capsys.readouterr().out)
    assert found["schema"] == sdks.SCHEMA
    assert found["configurations"] == [{"name": "x86_64", "definitions": {}}]


@pytest.mark.parametrize("command", ["build", "run", "debug", "measure", "test"])
def test_an_sdk_is_for_sel4(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(EXAMPLES / "adder"), "--sdk", str(tmp_path / "x.sdk")]) == 2
    assert "--sdk is for --kernel sel4" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["build", "debug", "measure"])
def test_commands_use_the_sdk_that_is_given(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [command, str(EXAMPLES / "adder"), "--kernel", "sel4", "-o", str(tmp_path / "out")]
    assert main([*words, "--sdk", str(tmp_path / "none.sdk")]) == 1
    assert "none.sdk cannot be used as an SDK" in capsys.readouterr().err
    monkeypatch.setenv("CAMKES_SDK", str(tmp_path / "named.sdk"))
    assert main(words) == 1
    assert "named.sdk cannot be used as an SDK" in capsys.readouterr().err


def test_a_folder_whose_name_assemblers_would_divide(tmp_path: Path) -> None:
    sink = Sink()
    assert not can_be_mapped([tmp_path, tmp_path / "a=b"], sink)
    assert "a=b has a `=`" in sink.diagnostics[0].message
    assert can_be_mapped([tmp_path], Sink())


@pytest.mark.parametrize(
    ("system", "code", "missed"),
    [
        ("import <picoserver.camkes>; assembly { composition {} }", "E0201", "components"),
        (
            "import <std_connector.camkes>; component A { control; dataport Buf d; }"
            " component H { hardware; dataport Buf d; } assembly { composition {"
            " component A a; component H h; connection seL4HardwareMMIO c(from a.d, to h.d); }"
            " configuration { h.d_paddr = 0x1000; } }",
            "E0955",
            "templates",
        ),
    ],
)
def test_what_only_a_workspace_has(
    system: str, code: str, missed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lists = "DeclareCAmkESComponent(A SOURCES a.c)\nDeclareCAmkESRootserver(x.camkes)\n"
    write_files(tmp_path / "x", {"x.camkes": system, "CMakeLists.txt": lists, "a.c": "int x;"})
    sdk = write_small_sdk(tmp_path / "small.sdk")
    words = ["build", str(tmp_path / "x"), "--kernel", "sel4", "--sdk", str(sdk), "-o", str(tmp_path / "out")]
    assert main(words) == 1
    said = capsys.readouterr().err
    assert f"error[{code}]" in said, said
    assert f"an SDK has no {missed} of a workspace; build in a workspace: --workspace DIR" in said, said


# archives of programs


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
@pytest.mark.parametrize("sizes", [(), (1,), (4, 510, 511), (100_000, 3)])
def test_the_archive_of_cpio(sizes: tuple[int, ...], tmp_path: Path) -> None:
    members = [
        (f"component-{size}.elf", bytes(range(256)) * (size // 256) + bytes(size % 256)) for size in sizes
    ]
    write_cpio(tmp_path / "ours.cpio", members)
    usual = [
        "cpio",
        "--reproducible",
        "--quiet",
        "-o",
        "-H",
        "newc",
        "--owner=+0:+0",
        f"--file={tmp_path / 'cpio'}",
    ]
    subprocess.run(usual, input=b"", cwd=tmp_path, check=True)
    for name, data in members:
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(0o755)
        os.utime(tmp_path / name, (0, 0))
        subprocess.run([*usual, "--append"], input=name.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "ours.cpio").read_bytes() == (tmp_path / "cpio").read_bytes()


# seL4's ELF loader


def program(path: Path, address: int, size: int) -> Path:
    """A program of 64 bits with one segment, of which nothing is in the file."""
    header = struct.pack(
        "<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 0, 1, address, 64, 0, 0, 64, 56, 1, 64, 0, 0
    )
    path.write_bytes(header + struct.pack("<IIQQQQQQ", 1, 5, 0, address, address, 0, size, 4096))
    return path


def test_the_place_behind_what_is_unpacked(tmp_path: Path) -> None:
    tree = tmp_path / elfloader.TREE
    tree.write_bytes(bytes(0x1001))
    archive = tmp_path / "archive.o"
    archive.write_bytes(bytes(0x3000))
    members = [
        (elfloader.KERNEL, program(tmp_path / "kernel", 0xFFFF_0000_4000_0000, 0x20001)),
        (elfloader.TREE, tree),
        (elfloader.SYSTEM, program(tmp_path / "system", 0x40_0000, 0x5000)),
    ]
    # kernel, tree and system in whole pages, and 128 KiB
    behind = 0x21000 + 0x2000 + 0x5000 + 0x20000
    first, small = (0x4000_0000, 0x8000_0000), (0x1000_0000, 0x1000_0000 + behind + 0x2FFF)
    assert elfloader.start([first], members, archive) == 0x4000_0000 + behind
    assert elfloader.start([small, first], members, archive) == 0x4000_0000 + behind
    exactly = (small[0], small[1] + 1)
    assert elfloader.start([exactly, first], members, archive) == 0x1000_0000 + behind
    with pytest.raises(ElfError, match="does not fit"):
        elfloader.start([small], members, archive)


@pytest.mark.parametrize("inside", [b"", b"x", bytes(range(100)) * 7])
def test_other_content_of_a_section(inside: bytes, tmp_path: Path) -> None:
    source, obj, dump = (tmp_path / f"part{ending}" for ending in (".S", ".o", ".bin"))
    source.write_text(
        '.section .payload,"ax"\n.ascii "ab"\nbegin: .fill 20\nend: .balign 16\n'
        ".data\n.globl after\nafter: .long 42\n"
    )
    subprocess.run(["cc", "-c", source, "-o", obj], check=True)
    obj.write_bytes(with_content(obj.read_bytes(), ".payload", 2, 22, inside, 16))
    subprocess.run(["objcopy", f"--dump-section=.payload={dump}", obj, tmp_path / "copy.o"], check=True)
    data = dump.read_bytes()
    assert data.startswith(b"ab" + inside)
    assert len(data) % 16 == 0 and not any(data[2 + len(inside) :])
    symbols = subprocess.run(["nm", obj], check=True, capture_output=True, text=True).stdout
    places = {line.split()[-1]: int(line.split()[0], 16) for line in symbols.splitlines()}
    assert (places["begin"], places["end"]) == (2, 2 + len(inside))
    assert read_image(obj, ["after"]).symbols["after"].value == 0


def boot_loader(**given: object) -> BootLoader:
    placed = PlacedSource("@workspace@/crt0.S", COMMAND)
    usual = {
        "files": (("kernel.elf", "@build@/elfloader/kernel.elf"),),
        "archive": COMMAND,
        "memory": ((0, 1 << 30),),
        "headers": "@build@/elfloader/gen_headers",
        "placed": {"@build@/objects/crt0.S.obj": placed},
        "script": placed,
        "link": COMMAND,
        "strip": "aarch64-linux-gnu-strip",
        "binary": False,
        "firmware": Firmware("@build@/fw_payload.o", ".payload", 2, 4, 16, COMMAND),
    }
    return BootLoader(**{**usual, **given})  # type: ignore[arg-type]


def test_a_description_with_a_boot_loader() -> None:
    whole = description(configuration(boot=boot_loader()))
    assert Description.read(whole.write()) == whole


OTHER = ToolCommand("sh", ())


@pytest.mark.parametrize(
    "given",
    [
        {"strip": "/bin/sh"},
        {"archive": OTHER},
        {"link": OTHER},
        {"script": PlacedSource("@workspace@/x", OTHER)},
        {"script": PlacedSource("@workspace@/../../x", COMMAND)},
        {"placed": {"@build@/x.o": PlacedSource("/etc/passwd", COMMAND)}},
        {"placed": {"@build@/x.o": PlacedSource("@workspace@/x.S", OTHER)}},
        {"files": (("../kernel.elf", "@build@/kernel.elf"),)},
        {"files": (("kernel.elf", "/etc/passwd"),)},
        {"headers": "@build@/../.."},
        {"firmware": Firmware("/etc/passwd", ".payload", 0, 0, 16, COMMAND)},
        {"firmware": Firmware("@build@/x.o", ".payload=/etc/passwd", 0, 0, 16, COMMAND)},
        {"firmware": Firmware("@build@/x.o", ".payload", 0, 0, 16, OTHER)},
    ],
)
def test_a_boot_loader_has_no_other_programs_and_places(given: dict[str, object]) -> None:
    with pytest.raises(DescriptionError):
        Description.read(description(configuration(boot=boot_loader(**given))).write())


# images


@pytest.fixture(scope="session")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not WORKSPACE:
        pytest.skip("SEL4_WORKSPACE names no workspace")
    kept = os.environ.get("SEL4_BUILDS")
    return Path(kept) if kept else tmp_path_factory.mktemp("sdk")


@pytest.fixture(scope="session")
def sdk_of(builds: Path) -> Iterator[Callable[..., Path]]:
    """Makes an SDK with one configuration, once."""
    made: dict[str, Path] = {}

    def of(**definitions: str) -> Path:
        name = "-".join(["sdk", *(f"{key}={value}" for key, value in definitions.items())])
        if name not in made:
            sink = Sink()
            path = builds / f"{name}.sdk"
            packed = pack(path, Path(WORKSPACE), [definitions], builds / "sdk", sink, lambda _: None)
            assert packed is not None, [(each.message, each.notes) for each in sink.diagnostics]
            made[name] = path
        return made[name]

    yield of


def built(application: Path, sdk: Path, out: Path, **definitions: str) -> Path:
    sink = Sink()
    asked = pipeline.Input(path=application, definitions=tuple(definitions.items()), sdk=sdk)
    with pipeline.built_for_sel4(asked, None, out, sink, lambda _: None) as found:
        assert found is not None, [(each.message, each.notes) for each in sink.diagnostics]
    return out


def images(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (folder / "images").iterdir()}


MCS, RELEASE = {"KernelIsMCS": "ON"}, {"RELEASE": "ON"}
#: whose images are an ELF file, and a flat one
BOARDS = ("zynqmp", "imx8mm-evk")
CASES = [
    *(
        (platform, name, definitions)
        for platform in SDK_PLATFORMS
        for name, definitions in [("adder", {}), ("inversion", {}), ("adder", MCS), ("adder", RELEASE)]
    ),
    ("x86_64", "nested", {}),
    ("x86_64", "dataport", {}),
    *((board, "adder", {}) for board in BOARDS),
]


@pytest.mark.mostly_long(18)
@pytest.mark.parametrize(
    ("platform", "name", "definitions"), CASES, ids=["-".join([p, n, *d]) for p, n, d in CASES]
)
def test_images_are_those_of_the_workspace(
    platform: str, name: str, definitions: dict[str, str], builds: Path, sdk_of: Callable[..., Path]
) -> None:
    known = PLATFORMS[platform][1] if platform in SDK_PLATFORMS else {"PLATFORM": platform}
    definitions = {**known, **definitions}
    sdk = sdk_of(**definitions)
    sink = Sink()
    there = builds / "-".join(["workspace", name, *definitions.values()])
    assert make(Path(WORKSPACE), EXAMPLES / name, there, definitions, sink, lambda _: None), sink.diagnostics
    here = built(
        EXAMPLES / name, sdk, builds / "-".join(["with-sdk", name, *definitions.values()]), **definitions
    )
    assert {each: data == images(there)[each] for each, data in images(here).items()} == dict.fromkeys(
        images(there), True
    )


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize("platform", SDK_PLATFORMS)
def test_an_image_boots(platform: str, sdk_of: Callable[..., Path], tmp_path: Path) -> None:
    qemu, definitions = PLATFORMS[platform]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    out = built(EXAMPLES / "adder", sdk_of(**definitions), tmp_path / "out", **definitions)
    expected = (EXAMPLES / "adder" / "expected.txt").read_text().splitlines()
    printed = []
    for line in console(out, seconds=120):
        printed.append(line.rstrip())
        if set(expected) <= set(printed):
            break
    assert set(expected) <= set(printed)


def test_what_a_build_takes_is_what_its_distribution_has(sdk_of: Callable[..., Path], tmp_path: Path) -> None:
    words = ("--sdk", sdk_of(PLATFORM="x86_64"), "-DPLATFORM=x86_64", "-o", tmp_path / "out", "--json")
    found = conforming("size", camkes("size", EXAMPLES / "adder", "--kernel", "sel4", *words).output)
    text = (tmp_path / "out" / "adder.cdl").read_text()
    assert found["counted"] == "sel4" and found["total"]["memory"]["heap"] == 2 << 20
    assert sum(found["total"]["objects"].values()) == len(re.findall(r"(?m)^\S+ = \w+", text))
    assert found["total"]["objects"]["frame"] == len(re.findall(r"(?m)^\S+ = frame", text))


def test_what_did_not_change_is_not_compiled_again(sdk_of: Callable[..., Path], tmp_path: Path) -> None:
    application = tmp_path / "adder"
    shutil.copytree(EXAMPLES / "adder", application)
    out = built(application, sdk_of(PLATFORM="x86_64"), tmp_path / "out")
    objects = {file: file.stat().st_mtime_ns for file in out.rglob("*.o")}
    built(application, sdk_of(PLATFORM="x86_64"), out)
    assert {file: file.stat().st_mtime_ns for file in objects} == objects
    source = application / "client.c"
    source.write_text(source.read_text() + "int one_more(void);\nint one_more(void) { return 1; }\n")
    built(application, sdk_of(PLATFORM="x86_64"), out)
    changed = {file.name for file, time in objects.items() if file.stat().st_mtime_ns != time}
    assert changed == {"client.c.o", "archive.o"} | (changed & {"tables.o"})
