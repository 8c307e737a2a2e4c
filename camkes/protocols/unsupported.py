# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where waiting `with helpers` is not supported yet."""

from __future__ import annotations

from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols.codes import HELPERS_UNSUPPORTED


def refuse_helpers(system: System, sink: Sink, where: str, help: str) -> bool:
    """Report each event and semaphore with helpers; whether there is one. `where` completes "helpers are not
    supported ... yet"."""
    for condition in system.conditions:
        sink.report(
            HELPERS_UNSUPPORTED,
            f"`{condition.name}` has helpers, which are not supported {where} yet",
            condition.spans.get("helpers", condition.span),
            help=help,
        )
    return bool(system.conditions)
