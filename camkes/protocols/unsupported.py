# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where waiting `with helpers` is not supported yet."""

from __future__ import annotations

from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols.codes import HELPERS_UNSUPPORTED


def refuse_helpers(system: System, sink: Sink) -> None:
    """Report each event and semaphore with helpers in a build for an MCS kernel."""
    for condition in system.conditions:
        sink.report(
            HELPERS_UNSUPPORTED,
            f"`{condition.name}` has helpers, which are not supported on MCS kernels yet",
            condition.spans.get("helpers", condition.span),
            help="build for a kernel without MCS (-DKernelIsMCS=OFF)",
        )
