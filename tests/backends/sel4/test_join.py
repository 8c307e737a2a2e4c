# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the object of an instance shows to the rest of its address space."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from camkes.backends.sel4.join import hide

pytestmark = pytest.mark.requirement("SEL4-16")

METER = """
extern int measure(void);
int reading_value(void) { return measure(); }
int camkes_instance_meter__direct_reading(void) { return 1; }
int used(void) { return 2; }
int optional(void) { return 3; }
"""
GAUGE = """
extern int reading_value(void), camkes_instance_meter__direct_reading(void);
int camkes_instance_gauge__reading(void)
{
    return reading_value() + camkes_instance_meter__direct_reading();
}
"""
SPACE = """
extern int used(void);
extern __attribute__((weak)) int optional(void);
int start(void) { return used() + (optional ? optional() : 0); }
"""


def compiled(folder: Path, name: str, text: str) -> Path:
    output = folder / f"{name}.o"
    command = ["cc", "-x", "c", "-c", "-", "-o", str(output)]
    subprocess.run(command, input=text, text=True, check=True)
    return output


def shown(file: Path) -> set[str]:
    done = subprocess.run(["nm", "-g", "--defined-only", file], capture_output=True, text=True, check=True)
    return {line.split()[2] for line in done.stdout.splitlines()}


def test_instances_do_not_take_what_another_defines_for_itself(tmp_path: Path) -> None:
    """A handler that the gauge lacks is not the meter's of that name; a weak name asks for none."""
    meter, gauge = compiled(tmp_path, "meter", METER), compiled(tmp_path, "gauge", GAUGE)
    space, output = compiled(tmp_path, "space", SPACE), tmp_path / "hidden.o"
    hide("objcopy", "nm", meter, [space], [meter, gauge], {}, output)
    assert shown(output) == {"camkes_instance_meter__direct_reading", "used"}


def test_names_of_memory_get_the_instance_in_front(tmp_path: Path) -> None:
    """The image asks for the new names of all instances: each shows those that it has."""
    pool = compiled(tmp_path, "pool", "char memory[8], tree[8], scratch[8];")
    output = tmp_path / "hidden.o"
    renamed = {
        "memory": "pool.memory",
        "tree": "tree",
        "pool.memory": "pool.memory",
        "clock.data": "clock.data",
    }
    hide("objcopy", "nm", pool, [], [pool], renamed, output)
    assert shown(output) == {"pool.memory", "tree"}
