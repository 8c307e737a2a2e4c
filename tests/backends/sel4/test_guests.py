# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Two Linux guests on seL4 with a network between them, and a component with shared memory beside each.

Needs a workspace with camkes-vm in which the folder guests/ is linked, as examples/guest is for
test_guest.py, and QEMU: SEL4_VM_WORKSPACE=DIR. SEL4_VM_MODULES names modules that the guests' kernel needs
for virtio_net and virtio_pci.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.sel4.virtual_machine import MODULES, WORKSPACE, boot, image_of

pytestmark = [
    pytest.mark.requirement("SEL4-17"),
    pytest.mark.long,
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_VM_WORKSPACE names no workspace with camkes-vm"),
]


def test_guests_reach_each_other_and_their_partners(tmp_path: Path) -> None:
    image = image_of(Path(__file__).parent / "guests", tmp_path, f"-DGUEST_MODULES={MODULES}")
    answers = (("login:", "root"), ("# ", "ask stressed"), ("# ", "ping -c 3 10.0.0.2"))
    text = boot(image, answers, lambda since: "packet loss" in since)
    assert 'partner0: asked "stressed"' in text and "events: 1, answer: desserts" in text
    assert 'partner1: asked "emordnilap"' in text
    assert "3 packets transmitted, 3 packets received, 0% packet loss" in text
