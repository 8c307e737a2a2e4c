# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about trace files and the pictures made of them."""

from __future__ import annotations

from camkes.diagnostics import Code

TRACE_UNREADABLE = Code("E0801", "trace-unreadable")
TRACE_TRUNCATED = Code("E0803", "trace-truncated")
TRACE_NAMES = Code("E0804", "trace-names")
TRACE_UNKNOWN_KIND = Code("W0805", "trace-unknown-kind")
WINDOW_EMPTY = Code("E0806", "window-empty")
MALFORMED_MESSAGE = Code("E0807", "malformed-message")
NO_JOB_ENDED = Code("W0808", "no-job-ended")
DEADLINE_MISSED = Code("E0809", "deadline-missed")
RUN_RETURNED = Code("E0810", "run-returned-an-error")
DENIED_WAIT = Code("E0811", "denied-wait")
NOT_INITIALISED = Code("E0812", "not-initialised")
ENDLESS_JOB = Code("E0813", "endless-job")
DOMAINS_IGNORED = Code("W0814", "domains-not-followed")
SLOT_FILLED = Code("W0815", "slot-filled")
ONE_JOB_ONLY = Code("W0816", "one-job-only")
