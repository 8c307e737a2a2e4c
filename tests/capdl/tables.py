# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the tables that a capDL loader is built with say, whoever wrote them.

    python -m tests.capdl.tables OURS.c OTHER.c

compares two: objects with what they hold, and the order of objects.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec import Struct

_HERE = Path(__file__).parent / "loader"


class Tables(Struct, frozen=True):
    """Objects in order with their slots, and the lines about the system as a whole."""

    objects: dict[str, tuple[str, ...]]
    system: tuple[str, ...]

    @property
    def threads(self) -> list[str]:
        """In the order in which they are started."""
        return [name for name, lines in self.objects.items() if lines[0].startswith("TCB")]

    def differences(self, other: Tables) -> list[str]:
        """Everything that one of the two says and the other does not."""
        found = []
        for name in sorted({*self.objects, *other.objects}):
            ours, theirs = self.objects.get(name, ()), other.objects.get(name, ())
            found += [f"{name}: {line} | only here" for line in ours if line not in theirs]
            found += [f"{name}: {line} | only there" for line in theirs if line not in ours]
        ours, theirs = (sorted(each.system) for each in (self, other))
        found += [f"{line} | only here" for line in ours if line not in theirs]
        return found + [f"{line} | only there" for line in theirs if line not in ours]


def printed(source: Path) -> str:
    """Everything in tables, as text: they are compiled against a header with the loader's names."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "print"
        command = ["cc", "-O0", "-Werror", "-Wall", "-I", str(_HERE), str(_HERE / "print.c"), str(source)]
        subprocess.run([*command, "-o", str(program)], check=True)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def read_tables(source: Path) -> Tables:
    objects: dict[str, tuple[str, ...]] = {}
    system: list[str] = []
    name = ""
    for line in printed(source).splitlines():
        if line.startswith("  "):
            objects[name] += (line.strip(),)
        elif " = " in line:
            name, _, what = line.partition(" = ")
            assert name not in objects, f"{name} is there twice"
            objects[name] = (what,)
        else:
            system.append(line)
    return Tables(objects, tuple(system))


def main() -> None:
    ours, theirs = (read_tables(Path(name)) for name in sys.argv[1:])
    found = ours.differences(theirs)
    print(*found, sep="\n", end="\n" if found else "")
    slots = sum(len(lines) - 1 for lines in ours.objects.values())
    order = "the same" if list(ours.objects) == list(theirs.objects) else "another"
    print(f"{len(ours.objects)} objects, {slots} capabilities, {len(found)} differences, {order} order")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
