# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Applications of a CAmkES workspace print on seL4 what they are known to print.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_APPLICATIONS=adder,dhcp,... chooses, "all" is all;
docs/applications.md has the results of all. SEL4_RELEASE=1 makes release images, of a kernel that prints.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from tests.backends.sel4.platforms import PLATFORMS

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-4"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]

DEFAULT = "attributes,dhcp,testgrouping,testsingleaddressspaceheap"


@dataclass(frozen=True)
class Expected:
    """What an application prints, in this order."""

    texts: tuple[str, ...]
    platform: str = "x86_64"
    #: seconds until it must have been printed
    limit: float = 120


def _says(*texts: str, platform: str = "x86_64") -> Expected:
    return Expected(texts, platform)


_DONE = _says("After the client")
_GOOD = _says("All OK")

APPLICATIONS = {
    **dict.fromkeys(["cs-donate", "cs-nodonate", "simple", "simplesingleaddressspace"], _DONE),
    **dict.fromkeys(["testcontrolname", "testunderscorename"], _DONE),
    **dict.fromkeys(["testbufvariant", "testcamkes438", "testgrouping", "testgroupingcontrol"], _GOOD),
    **dict.fromkeys(["testdataportbifurcate", "testdataportptrwrap", "testdataportrpc"], _GOOD),
    **dict.fromkeys(["testnto1overload", "testreplycapprotection", "testsel4notification"], _GOOD),
    **dict.fromkeys(["testsingleaddressspaceheap", "teststringarrays", "testsyscalls"], _GOOD),
    **dict.fromkeys(["testdataportmux", "testdataportmuxflat"], _says("We're done, people")),
    **dict.fromkeys(["adder", "RPCOverMultiSharedData"], _says("client: result was 1270")),
    "alignment": _says("All is well in the universe!"),
    "attributes": _says("a = 11, b = 1", "c = 5, d = 4"),
    "binary-semaphore": _says("Echoing: 42 == 42"),
    "cms-donate": _says("echo_parameter: 123 -> 123 (returned = 123)", "After the client"),
    "dataport": _says("comp2 read hello world"),
    "dhcp": _says("a: Acquired IP 192.168.1.5"),
    "dma-example": _says("Allocating 4MB...", "Succeeded", "Done."),
    "domains": _says("done emitting events"),
    "epit": _says("EPIT time out...6", platform="sabre"),
    "event": _says("event_callback: Got an event"),
    "event-driven": _says("Got 100 events!"),
    "exchangestring": _says("Client ret: This is a string from server."),
    "fdtgen": _says("interrupt-controller@a01000", "ethernet@2188000", "cpus", platform="sabre"),
    "filter": _says('received value ""'),
    "global-imports": _says("Hello, World!", "(4.000000, 2.000000)", "2"),
    "global_async": _says("Got an event : Incoming data is OKVje138PB1J@cG?ObN2"),
    "hierarchical-attributes": _says("str: world"),
    "hierarchical-components": _says("hello world!"),
    "lockserver": _says("c3: released"),
    "mcs-donate": _says("After the client_1"),
    "mcs-nodonate": _says("After the client_2"),
    "multiassembly": _says("DLROW OLLEH"),
    "multiclient": _says("echo_int: 2"),
    "multiplier": _says("client: other is {7, 8, }"),
    "mutex": _says("b: Exiting"),
    "periodic": _says("client2: *** DONE 100000 ***"),
    "pit": _says("5 seconds elapsed", platform="ia32"),
    "reversestring": _says("!dlroW ,olleH"),
    "rotate": _says("Afterwards we have (ret)2, (in)2, (out)4, (inout)2"),
    "serialserver_interrupt": _says("interruptcli: Hello Serial Server!", platform="ia32"),
    "serialserver_polling": _says("pollcli: Hello Serial Server!", platform="ia32"),
    "socket": _says("receiver: Done."),
    "structs": _says("array_in_struct: array length: 4, first element 3"),
    "swapcounter": _says("done", platform="sabre"),
    "testfaulthandlers": _says("FAULT HANDLER"),
    "testhwdataportlrgpages": _says("Hello, World!", platform="ia32"),
    "testnto1mmio": _says("hello from drv1", "hello from drv2", platform="sabre"),
    "testrefin": _says("client: result was 42", "client: result was b = {0..99}"),
    "timeserver": _says("BOOM!", platform="ia32"),
}

#: settings without which an application does not work, with any tool
SETTINGS = {"dma-example": {"CAmkESLargeFramePromotion": "ON"}}


#: of every application, for release images
RELEASE = {"RELEASE": "ON", "KernelPrinting": "ON"} if os.environ.get("SEL4_RELEASE") else {}


def chosen() -> list[str]:
    names = os.environ.get("SEL4_APPLICATIONS", DEFAULT)
    return list(APPLICATIONS) if names == "all" else names.split(",")


@pytest.mark.parametrize("name", chosen())
def test_application(name: str, tmp_path: Path) -> None:
    expected = APPLICATIONS[name]
    qemu, options = PLATFORMS[expected.platform]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    folder = Path(WORKSPACE) / "projects" / "camkes" / "apps" / name
    sink = Sink()
    settings = {**options, **SETTINGS.get(name, {}), **RELEASE}
    built = make(Path(WORKSPACE), folder, tmp_path, settings, sink, lambda *_: None)
    assert built, [diagnostic.message for diagnostic in sink.diagnostics]
    missing = list(expected.texts)
    printed = []
    for line in console(tmp_path, seconds=expected.limit):
        printed.append(line)
        while missing and missing[0] in line:
            line = line.partition(missing.pop(0))[2]
        if not missing:
            break
    assert not missing, "".join(printed[-30:])
