# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The files of the host kernel use each other as the table in its README says, and never in cycles; its
folders call those that their own READMEs name."""

from __future__ import annotations

import re
import subprocess
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]
KERNEL = ROOT / "kernel" / "host"

#: what `nm` calls symbols that are defined here and seen by other files
DEFINED = frozenset("TDBRVWC")

Uses = dict[str, dict[str, set[str]]]


def symbols(files: list[Path]) -> dict[Path, list[tuple[str, str]]]:
    """Kind and name of each."""
    listing = subprocess.run(["nm", "-A", *files], capture_output=True, text=True, check=True).stdout
    found: dict[Path, list[tuple[str, str]]] = {file: [] for file in files}
    for line in listing.splitlines():
        file, _, rest = line.partition(":")
        kind, name = rest.split()[-2:]
        found[Path(file)].append((kind, name))
    return found


def read_uses(objects: list[Path]) -> Uses:
    """Which files each file uses symbols of, and which symbols."""
    tables = {file.name.partition(".")[0]: table for file, table in symbols(objects).items()}
    owner = {name: file for file, table in tables.items() for kind, name in table if kind in DEFINED}
    uses: Uses = {file: {} for file in tables}
    for file, table in tables.items():
        for kind, name in table:
            other = owner.get(name, file)
            if kind == "U" and other != file:
                uses[file].setdefault(other, set()).add(name)
    return uses


def find_cycle(uses: Uses) -> list[str]:
    """Files that use each other, the first again at the end; empty: none do."""
    try:
        TopologicalSorter(uses).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def layers() -> dict[str, int]:
    """The row of each file in the table of README.md."""
    text = (KERNEL / "README.md").read_text("utf-8").partition("## The sources")[2]
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    names = [(name, row) for row, cell in enumerate(rows) for name in re.findall(r"`(\w+)`", cell)]
    assert len(names) == len(dict(names)), "a file is in two rows"
    return dict(names)


@pytest.fixture(scope="module")
def uses(tmp_path_factory: pytest.TempPathFactory) -> Uses:
    folder = tmp_path_factory.mktemp("layers")
    subprocess.run(["make", "-s", "-C", str(KERNEL), "CFLAGS=-O0", f"OUT={folder}"], check=True)
    return read_uses(sorted((folder / "objects").rglob("*.o")))


def test_a_cycle_is_found() -> None:
    assert find_cycle({"a": {"b": {"f"}}, "b": {}}) == []
    assert find_cycle({"a": {"b": {"f"}}, "b": {"c": {"g"}}, "c": {"a": {"h"}}})


@pytest.mark.long
def test_there_are_no_cycles_between_files(uses: Uses) -> None:
    assert any(uses.values())
    assert find_cycle(uses) == []


@pytest.mark.long
def test_every_file_is_in_the_table(uses: Uses) -> None:
    assert set(layers()) == set(uses)


@pytest.mark.long
def test_files_use_what_is_above_them_in_the_table(uses: Uses) -> None:
    row = layers()
    wrong = [
        (a, b, sorted(names)) for a, used in uses.items() for b, names in used.items() if row[b] > row[a]
    ]
    assert wrong == []


TREES = {"kernel": KERNEL / "src", "runtime": ROOT / "runtime" / "src"}


def folders(tree: Path) -> dict[str, set[str]]:
    """Each folder of sources, and those that its README lets it call."""
    found = {}
    for readme in sorted(tree.glob("*/README.md")):
        line = re.search(r"^May call: (.*)\.$", readme.read_text("utf-8"), re.MULTILINE)
        assert line is not None, readme
        found[readme.parent.name] = set(re.findall(r"`(\w+)`", line[1]))
    return found


@pytest.mark.parametrize("name", TREES)
def test_every_folder_has_a_page_that_names_its_files(name: str) -> None:
    """But for the folders of processors, which the kernel's own README describes, and for what is named after
    its kernel."""
    tree = TREES[name]
    processors = {path.parent.name for path in tree.glob("*/registers.h")}
    have = {path.name for path in tree.iterdir() if path.is_dir()} - processors
    assert have == set(folders(tree))
    for folder in have:
        page = (tree / folder / "README.md").read_text("utf-8")
        files = {path.stem for path in (tree / folder).glob("*.c")}
        assert files <= set(re.findall(r"`(\w+)(?:\.c)?`", page)), folder


def calls_of_folders(tree: Path, uses: Uses) -> dict[str, set[str]]:
    of = {path.stem: path.relative_to(tree).parts[0] for path in tree.glob("*/**/*.c")}
    made: dict[str, set[str]] = {folder: set() for folder in folders(tree)}
    for file, used in uses.items():
        if of.get(file) in made:
            made[of[file]] |= {of[other] for other in used if of.get(other) in made} - {of[file]}
    return made


@pytest.mark.long
def test_folders_call_those_that_they_name(uses: Uses) -> None:
    made = calls_of_folders(TREES["kernel"], uses)
    made["judge"] = {"oracle"}  # a program of its own, not in these objects
    assert made == folders(TREES["kernel"])


@pytest.mark.long
def test_folders_of_the_runtime_call_those_that_they_name(tmp_path: Path) -> None:
    """As it is on the host kernel, with budgets and without."""
    tree = TREES["runtime"]
    sources = [path for path in tree.rglob("*.c") if not path.stem.endswith("_sel4")]
    includes = (f"-I{ROOT / 'runtime' / 'include'}", f"-I{KERNEL / 'include'}")
    made: dict[str, set[str]] = {folder: set() for folder in folders(tree)}
    for kind in ("-UCONFIG_KERNEL_MCS", "-DCONFIG_KERNEL_MCS"):
        folder = tmp_path / kind
        folder.mkdir()
        flags = ("-std=gnu11", "-O0", "-fPIC", "-DCAMKES_KERNEL_HOST=1", kind, *includes)
        subprocess.run(["cc", *flags, "-c", *map(str, sources)], cwd=folder, check=True)
        for caller, called in calls_of_folders(tree, read_uses(sorted(folder.glob("*.o")))).items():
            made[caller] |= called
    assert made == folders(tree)
