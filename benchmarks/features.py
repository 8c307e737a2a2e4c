# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds what camkes-vm and global-components offer in a workspace, boots what QEMU can, and writes a table.

    python benchmarks/features.py ~/vm --json features.json --markdown table.md

A row is a feature and an application that uses it: one of camkes-vm-examples (`vm/NAME`), of seL4/camkes
(`camkes/NAME`), or of this repository (`own/NAME`, and `test/NAME`, which a test builds as well). "boots"
means that the image prints the texts that the row waits for; "builds" that there is an image. Results that
the file of `--json` has are kept, but for rows that `--again` names. With `--beside DIR` the same rows are
tried in a workspace of camkes-tool. SEL4_WORKSPACE names the workspace where no argument does. `--modules`
are those that a guest's kernel needs for virtio_net, in the order in which they are loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: folders of applications of this repository
OWN = {"own": ROOT / "benchmarks/feature_apps", "test": ROOT / "tests/backends/upstream_templates"}
VIRT = ("-DPLATFORM=qemu-arm-virt", "-DAARCH64=TRUE")
LOGIN = (("login:", "root"), ("# ", ""))
NO_GUEST = "QEMU does not emulate VT-x"
NO_BOARD = "no emulated board"


@dataclass(frozen=True)
class Feature:
    """What is offered, and the application that shows it."""

    name: str
    application: str
    settings: tuple[str, ...] = ()
    #: texts that are waited for, and what is typed then; without any, the image is only built
    talk: tuple[tuple[str, str], ...] = ()
    #: why it is only built
    why: str = ""

    @property
    def key(self) -> str:
        return " ".join((self.application, *self.settings))


def _virtual_machines() -> Iterator[Feature]:
    yield Feature("a Linux guest, with the console of the machine", "vm/vm_minimal", VIRT, LOGIN)
    yield Feature(
        "the guest has several processors, of a kernel for several",
        "vm/vm_minimal",
        (*VIRT, "-DNUM_NODES=4"),
        LOGIN,
    )
    off = "-DVmOnDemandDeviceInstall=OFF"
    yield Feature("VmOnDemandDeviceInstall=OFF", "vm/vm_minimal", (*VIRT, off), LOGIN)
    yield Feature("release kernel", "vm/vm_minimal", (*VIRT, "-DRELEASE=TRUE"), LOGIN)
    yield Feature("introspection of the guest", "vm/vm_introspect", VIRT, LOGIN)
    yield Feature(
        "cross-VM dataport and events, with the guest's module",
        "vm/vm_cross_connector",
        VIRT,
        (("Got an event", ""), ("Back from waiting", ""), *LOGIN),
    )
    yield Feature(
        "cross-VM dataport and events without a module, virtio_net between guests (VmVirtioNetVirtqueue)",
        "vm/guests",
        VIRT,
        (
            ("partner1: asked", ""),
            *LOGIN[:1],
            ("# ", "ask stressed"),
            ("answer: desserts", "ping -c 3 10.0.0.2"),
            (" 0% packet loss", ""),
        ),
    )
    talk = (("udhcpc: started", ""),)
    yield Feature(
        "three guests with SerialServer, TimeServer and virtio_console",
        "vm/vm_multi",
        (*VIRT, "-DSIMULATION=OFF"),
        talk,
    )
    yield Feature("the same", "vm/vm_multi", ("-DPLATFORM=exynos5422",), why=NO_BOARD)
    yield Feature(
        "console of the guest by SerialServer",
        "vm/vm_serial_server",
        ("-DPLATFORM=exynos5422",),
        why=NO_BOARD,
    )
    for platform, more in {
        "tx2": "-DAARCH64=TRUE",
        "zcu102": "-DAARCH64=TRUE",
        "exynos5422": "-DAARCH32=TRUE",
    }.items():
        board = (f"-DPLATFORM={platform}", more)
        yield Feature(
            "virtio_net, answered by the monitor (VmVirtioNetArping)", "vm/vm_virtio_net", board, why=NO_BOARD
        )
    ping = ("-DPLATFORM=tx2", "-DAARCH64=TRUE", "-DVIRTIO_NET_PING=ON")
    yield Feature("virtio_net, answered by a component", "vm/vm_virtio_net", ping, why=NO_BOARD)
    for platform in ("tx1", "tx2", "zcu102", "odroidc2"):
        yield Feature(
            "a Linux guest", "vm/vm_minimal", (f"-DPLATFORM={platform}", "-DAARCH64=TRUE"), why=NO_BOARD
        )
    for platform in ("exynos5422", "tk1"):
        yield Feature("a Linux guest", "vm/vm_minimal", (f"-DPLATFORM={platform}",), why=NO_BOARD)
    yield Feature(
        "VmEmmc2NoDMA", "vm/vm_minimal", ("-DPLATFORM=exynos5422", "-DVmEmmc2NoDMA=ON"), why=NO_BOARD
    )
    yield Feature("VmVirtUart", "vm/vm_minimal", ("-DPLATFORM=exynos5422", "-DVmVirtUart=ON"), why=NO_BOARD)
    for option in ("Tk1DeviceFwd", "Tk1Insecure"):
        yield Feature(option, "vm/vm_minimal", ("-DPLATFORM=tk1", f"-D{option}=ON"), why=NO_BOARD)
    smmu = ("-DPLATFORM=tx2", "-DAARCH64=TRUE", "-DKernelArmSMMU=ON")
    yield Feature("SMMU (KernelArmSMMU)", "vm/vm_minimal", smmu, why=NO_BOARD)
    yield Feature("components beside the guest", "vm/odroid_vm", ("-DPLATFORM=exynos5410",), why=NO_BOARD)
    yield Feature("a 32-bit Linux guest", "vm/minimal", ("-DPLATFORM=pc99",), why=NO_GUEST)
    yield Feature("a 64-bit Linux guest", "vm/minimal_64", ("-DPLATFORM=x86_64",), why=NO_GUEST)
    yield Feature("virtio_blk", "vm/virtio_blk_sample", ("-DPLATFORM=x86_64",), why=NO_GUEST)
    for name in ("optiplex9020", "cma34cr_centos", "cma34cr_ubuntu", "zmq_samples"):
        yield Feature(
            "devices passed through, cross-VM connections", f"vm/{name}", ("-DPLATFORM=pc99",), why=NO_GUEST
        )


def _components() -> Iterator[Feature]:
    ia32, x86 = ("-DPLATFORM=ia32", "-DSIMULATION=1"), ("-DPLATFORM=x86_64", "-DSIMULATION=1")
    yield Feature("TimeServer, seL4TimeServer", "camkes/timeserver", ia32, (("BOOM!", ""),))
    hello = "Hello Serial Server!"
    yield Feature(
        "SerialServer with interrupts, seL4SerialServer",
        "camkes/serialserver_interrupt",
        ia32,
        ((hello, ""),),
    )
    yield Feature("SerialServer, polled", "camkes/serialserver_polling", ia32, ((hello, ""),))
    yield Feature(
        "SerialServer by VirtQueueInit, seL4VirtQueues",
        "camkes/serialserver_loopback",
        ia32,
        (("Booting all finished", ""),),
    )
    yield Feature("FileServer, seL4RPCDataport", "vm/vm_minimal", VIRT, LOGIN)
    yield Feature(
        "RTC, PCIConfigIO, seL4HardwareIOPort",
        "own/pc",
        x86,
        (("the year is 20", ""), ("first device 8086", "")),
    )
    yield Feature("PicoServer, Ethdriver", "camkes/picoserver", x86)
    yield Feature("picotcp-socket-sync, BenchUtiliz", "camkes/picotcp_tcp_echo", x86)
    yield Feature("picotcp-base", "camkes/picotcp_single_component", x86)
    tx2 = ("-DPLATFORM=tx2", "-DAARCH64=TRUE")
    yield Feature(
        "ClockServer, ResetServer, GPIOMUXServer, BPMPServer, seL4GPIOServer",
        "camkes/picotcp_tcp_echo",
        tx2,
        why=NO_BOARD,
    )
    rest = "seL4NotificationBind, seL4NotificationNative, seL4RPCNoThreads, seL4RPCDataportNoThreads, pools"
    good = (("client 11 of 11 good", ""), ("server 6 of 6 good", ""), ("called back 1", ""))
    every = (("10 of 10 good", ""), ("server 7 of 7 good", ""), ("called back 1", ""), ("objects made", ""))
    yield Feature(f"seL4DMASharedData, {rest}", "test/connectors", x86, every)
    yield Feature(
        "seL4RPCCallSignal, seL4RPCDataport, seL4RPCDataportSignal, seL4RPCOverMultiSharedData, "
        "seL4GlobalAsynch, seL4GlobalAsynchCallback, seL4SharedDataWithCaps, seL4MessageQueue",
        "test/software",
        x86,
        good,
    )
    yield Feature("seL4DTBHardware", "test/devicetree", VIRT, (("PL031, tree 1", ""), ("pool 1", "")))


@dataclass
class Trial:
    """How features are tried in a workspace."""

    workspace: Path
    modules: str
    seconds: int
    jobs: int
    #: where it is built: one folder for all, as compiler caches count the paths
    made: Path

    def result(self, feature: Feature) -> str:
        kind, _, name = feature.application.partition("/")
        shutil.rmtree(self.made, ignore_errors=True)
        self.made.mkdir(parents=True)
        reason = self._build(kind, name, feature.settings)
        if reason:
            return f"no: {reason}"
        return self._boot(feature.talk) if feature.talk else "builds"

    def _source(self, kind: str, name: str) -> tuple[Path, Path, list[str]]:
        """The folder that CMake is given, its settings, and how the application is named."""
        projects = self.workspace / "projects"
        if kind in OWN:
            application = ROOT / "kernel/sel4/application"
            named = [f"-DCAMKES_WORKSPACE={self.workspace}", f"-DCAMKES_APPLICATION={OWN[kind] / name}"]
            return application, application / "settings.cmake", named
        if kind == "camkes":
            return projects / kind, projects / kind / "settings.cmake", [f"-DCAMKES_APP={name}"]
        root = projects / "vm-examples"
        named = [f"-DCAMKES_VM_APP={name}"]
        if name == "guests":
            named.append(f"-DGUEST_MODULES={self.modules}")
        return root, root / "settings.cmake", named

    def _build(self, kind: str, name: str, settings: tuple[str, ...]) -> str:
        """Why there is no image."""
        source, initial, named = self._source(kind, name)
        tool = self.workspace / "projects/camkes-tool/.venv/bin"
        environment = {**os.environ, "PATH": f"{tool}:{os.environ['PATH']}"}
        cache = f"-DSEL4_CACHE_DIR={self.workspace / '.sel4_cache'}"
        configure = ["cmake", "-G", "Ninja", *settings, *named, cache, "-C", str(initial), str(source)]
        for words in (configure, ["ninja", "-j", str(self.jobs)]):
            try:
                done = subprocess.run(
                    words,
                    cwd=self.made,
                    env=environment,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=self.seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"{words[0]} took more than {self.seconds} s"
            if done.returncode:
                return self._reason(done.stderr + done.stdout)
        return ""

    def _reason(self, text: str) -> str:
        """The first line that says what is wrong, without the paths of this build."""
        for pattern in (
            r"^(error\[\w+\]: .+)",
            r"CMake Error at .*\n\s*(.+)",
            r"(?:^|\s)(error: .+)",
            r"(.*not found.*)",
            r"(FAILED: .+)",
        ):
            if (found := re.search(pattern, text, re.MULTILINE)) is not None:
                line = found[1].replace(f"{self.made}/", "").replace(f"{self.workspace}/", "")
                return line.strip()[:160]
        return text.strip().splitlines()[-1][:160] if text.strip() else "no output"

    def _command(self) -> list[str]:
        simulate = self.made / "simulate"
        if simulate.exists():
            return [str(simulate)]
        image = next((self.made / "images").iterdir())
        machine = (
            "-machine",
            "virt,virtualization=on,highmem=off,secure=off",
            "-cpu",
            "cortex-a53",
            "-nographic",
        )
        processors = re.search(
            r"^KernelMaxNumNodes:\w+=(\d+)", (self.made / "CMakeCache.txt").read_text(), re.MULTILINE
        )
        smp = ("-smp", processors[1] if processors else "1")
        return ["qemu-system-aarch64", *machine, *smp, "-m", "size=2048", "-kernel", str(image)]

    def _boot(self, talk: tuple[tuple[str, str], ...]) -> str:
        command = self._command()
        rest, text = list(talk), b""
        with subprocess.Popen(
            command,
            cwd=self.made,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as machine:
            assert machine.stdin is not None and machine.stdout is not None
            end = time.monotonic() + self.seconds / 4
            while rest and time.monotonic() < end:
                if select.select([machine.stdout], [], [], 0.5)[0]:
                    read = os.read(machine.stdout.fileno(), 65536)
                    if not read:
                        break
                    text += read
                while rest and rest[0][0].encode() in text:
                    if typed := rest.pop(0)[1]:
                        # what follows is the answer
                        text = b""
                        machine.stdin.write(f"{typed}\n".encode())
                        machine.stdin.flush()
            os.killpg(machine.pid, 9)
        return f"builds; does not print {rest[0][0]!r}" if rest else "boots"


def markdown(results: dict[str, dict[str, str]], features: list[Feature], tools: list[str]) -> Iterator[str]:
    yield f"| feature | application and settings | {' | '.join(tools)} |"
    yield f"|---|---|{'---|' * len(tools)}"
    for feature in features:
        found = results.get(feature.key, {})
        cells = []
        for tool in tools:
            result = found.get(tool, "not tried")
            cells.append(
                f"builds ({feature.why})"
                if result == "builds" and feature.why
                else result.replace("|", "\\|")
            )
        yield f"| {feature.name} | `{feature.key}` | {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("workspace", type=Path, nargs="?", default=os.environ.get("SEL4_WORKSPACE"))
    parser.add_argument("--beside", type=Path, help="a workspace of camkes-tool")
    parser.add_argument(
        "--modules", default="", help="modules of the guest's kernel, separated by semicolons"
    )
    parser.add_argument("--only", default="", help="rows with this in the application or its settings")
    parser.add_argument(
        "--again", default=None, help="rows with this in the application or its settings are tried again"
    )
    parser.add_argument("--folder", type=Path, help="to build in; a new one by itself")
    parser.add_argument("--json", type=Path, help="the results, which are kept")
    parser.add_argument("--markdown", type=Path, help="write the table")
    parser.add_argument(
        "--seconds", type=int, default=1200, help="for a build; a fourth of it to boot (default: 1200)"
    )
    parser.add_argument("--jobs", type=int, default=2, help="for ninja (default: 2)")
    arguments = parser.parse_args()
    if arguments.workspace is None:
        parser.error("name a workspace")
    workspaces = {"camkes-rt": arguments.workspace} | (
        {} if arguments.beside is None else {"camkes-tool": arguments.beside}
    )
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="features"))
    trials = {
        tool: Trial(of.absolute(), arguments.modules, arguments.seconds, arguments.jobs, folder / tool)
        for tool, of in workspaces.items()
    }
    results: dict[str, dict[str, str]] = {}
    if arguments.json is not None and arguments.json.is_file():
        results = json.loads(arguments.json.read_text())
    features = [*_virtual_machines(), *_components()]
    for feature in features:
        if arguments.only not in feature.key:
            continue
        found = results.setdefault(feature.key, {})
        for tool, trial in trials.items():
            if tool in found and (arguments.again is None or arguments.again not in feature.key):
                continue
            found[tool] = trial.result(feature)
            print(f"{tool}: {feature.key}: {found[tool]}", file=sys.stderr, flush=True)
            if arguments.json is not None:
                arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    text = "\n".join(markdown(results, features, ["camkes-tool", "camkes-rt"])) + "\n"
    if arguments.markdown is not None:
        arguments.markdown.write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
