# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of diagnostics about building an image for seL4."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_TIMER = Code("E0952", "no-timer-driver")
TIMER_TAKEN = Code("E0963", "timer-taken")
NO_WORKSPACE = Code("E0953", "no-workspace")

SEL4_BUILD = Code("E0954", "sel4-build")
SILENT_IMAGE = Code("W0964", "silent-image")
NO_SWITCHES = Code("W0967", "switches-not-known")
UNSURE_SWITCHES = Code("N0968", "switches-between-records")
NO_CONNECTOR = Code("E0955", "connector-for-sel4")
NOT_COVERED = Code("W0966", "not-covered-by-l4v")
NO_LISTS = Code("E0965", "sel4-needs-cmakelists")
UNUSABLE_SDK = Code("E0967", "unusable-sdk")
NOT_IN_SDK = Code("E0968", "not-in-sdk")
OTHER_COMPILER = Code("W0969", "other-compiler")
