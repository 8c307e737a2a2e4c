# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Protection keys of kernel memory, in QEMU, whose processor has them whatever this machine has.

CAMKES_KEYS_VM names a folder with `vmlinuz`, a Linux kernel for x86_64 with the driver of a serial line built
in (Debian's linux-image-cloud-amd64 has it), and `busybox`, linked statically.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from camkes.resources import ROOT
from tests.command import camkes
from tests.host.systems import write_cases, write_system
from tests.host.test_confinement import ACCESS, KERNEL_MEMORY, PLACES

VM = os.environ.get("CAMKES_KEYS_VM", "")
pytestmark = [
    pytest.mark.requirement("HOST-7"),
    pytest.mark.skipif(not VM, reason="CAMKES_KEYS_VM is not set"),
]

INIT = """#!/bin/sh
mkdir -p /proc /sys /dev /tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
echo; echo "keys: $(grep -c -w ospke /proc/cpuinfo)"
cd /systems
for system in *; do for options in '' '--hardened'; do
    echo "== $system $options"
    cd /systems/$system
    ./camkes-host system.table --for 1000000000 --loop-limit 400 $options 2>&1
    echo "status $?"
done; done
echo '== end'
poweroff -f
"""


def libraries(programs: list[Path]) -> set[str]:
    """What the programs are linked with."""
    found: set[str] = set()
    for program in programs:
        done = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
        found.update(re.findall(r"(?:=> |^\s*)(/\S+) \(", done.stdout, re.MULTILINE))
    return found


def boot(folder: Path, kernel: Path, systems: list[Path], processor: str) -> dict[str, str]:
    """What each system prints, by its name and options, in a machine with a processor."""
    root = folder / "root"
    for name in ("bin", "systems"):
        (root / name).mkdir(parents=True)
    shutil.copy(Path(VM, "busybox"), root / "bin/busybox")
    for name in ("sh", "mkdir", "mount", "grep", "poweroff", "echo"):
        (root / "bin" / name).symlink_to("busybox")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    for system in systems:
        image = shutil.copytree(system / "out/host-image", root / "systems" / system.name, symlinks=False)
        program = Path(shutil.copy(kernel, image))
        for library in libraries([program, *image.glob("*.so")]):
            if not (root / library[1:]).exists():
                (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(library, root / library[1:])
    packed = f"cd {root} && find . | cpio -o -H newc --quiet | gzip -1 > {folder}/initrd.gz"
    subprocess.run(["sh", "-c", packed], check=True)
    line = [
        "qemu-system-x86_64",
        "-machine",
        "q35",
        "-cpu",
        processor,
        "-m",
        "1024",
        "-nographic",
        "-no-reboot",
    ]
    line += [
        "-kernel",
        f"{VM}/vmlinuz",
        "-initrd",
        f"{folder}/initrd.gz",
        "-append",
        "console=ttyS0 quiet panic=-1",
    ]
    done = subprocess.run(line, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
    text = done.stdout.decode(errors="replace").replace("\r", "")
    assert "== end" in text, text
    parts = re.split(r"^== (.*)$", text, flags=re.MULTILINE)
    return {"keys": parts[0]} | {
        name.strip(): said for name, said in zip(parts[1::2], parts[2::2], strict=True)
    }


def test_keys_are_used_where_the_processor_has_them(tmp_path: Path) -> None:
    systems = [tmp_path / name for name in ("access", "constructor", "loop", "places", "usual")]
    access, constructor, loop, places, usual = systems
    write_cases(access, list(ACCESS), KERNEL_MEMORY)
    before = "__attribute__((constructor)) static void c(void) { memset(kernel_memory(), 0, 8); }"
    write_system(constructor, "", KERNEL_MEMORY + before)
    write_system(loop, "for (volatile int i = 0;; i++) { }")
    write_cases(places, [f"memset(kernel_memory() + {place}, 0, 8);" for place in PLACES], KERNEL_MEMORY)
    write_system(usual, 'write(1, "direct\\n", 7); puts("line"); raise(SIGUSR1);')
    for system in systems:
        assert camkes("build", str(system), "-o", str(system / "out")).status == 0
    made = ["make", "-s", "-C", str(ROOT / "kernel/host"), f"OUT={tmp_path / 'kernel'}"]
    subprocess.run(made, check=True)
    kernel = tmp_path / "kernel/camkes-host"
    with_keys = boot(tmp_path / "with", kernel, systems, "max")
    without = boot(tmp_path / "without", kernel, systems, "max,-pku")
    assert "keys: 1" in with_keys["keys"] and "keys: 0" in without["keys"]
    for system in systems:  # keys protect as `--hardened` does, with and without it
        name = system.name
        runs = (with_keys[name], with_keys[f"{name} --hardened"], without[f"{name} --hardened"])
        assert len({tuple(sorted(run.splitlines())) for run in runs}) == 1, runs
    assert with_keys["places"].count("invalid write of kernel memory") == len(PLACES)
    assert with_keys["access"].count("system call of the workstation") == len(ACCESS)
    assert "good ran\n" in with_keys["places"] and "status 1" in with_keys["places"]
    assert "loops without consuming virtual time" in with_keys["loop"]
    assert "ended while it was loaded" in with_keys["constructor"]
    assert "wrote into the kernel's memory" in without["places"] and "status 4" in without["places"]
