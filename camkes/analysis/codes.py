# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of systems that cannot be analysed, or that cannot meet their deadlines."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_PERIOD = Code("E0901", "task-without-period")
ASSUMED = Code("E0902", "assumption")
MAY_WAIT = Code("E0903", "wait-without-bound")
OTHER_THREAD = Code("E0904", "thread-without-bound")
NO_TASKS = Code("E0905", "nothing-to-analyse")
PLATFORM = Code("E0906", "platform-profile")
OVERLOAD = Code("W0907", "utilisation-above-one")
DEMAND_ABOVE_DEADLINE = Code("W0908", "demand-above-deadline")
REPLAY_FILE = Code("E0909", "replay-file")
NOT_WRITTEN = Code("E0910", "setting-not-written")
SEVERAL_PROCESSORS = Code("E0911", "several-processors")
BAND_NOT_ANALYSED = Code("E0912", "band-not-analysed")
