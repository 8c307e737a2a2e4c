# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of diagnostics about protocols."""

from __future__ import annotations

from camkes.diagnostics import Code

DEADLOCK = Code("E0501", "deadlock")
PLAIN_BELOW_LOCK = Code("E0502", "invalid-nesting")
CEILING_BELOW_CALLER = Code("E0503", "ceiling-below-caller")
CEILING_BELOW_REQUESTOR = Code("E0504", "ceiling-below-requestor")
TOO_FEW_THREADS = Code("E0505", "too-few-threads")
NO_PRIORITY = Code("E0506", "task-without-priority")
DUPLICATE_TASK_ID = Code("E0507", "duplicate-task-id")
PRIORITY_RANGE = Code("E0508", "priority-out-of-range")
PRIORITY_OF_NON_PREEMPTIVE = Code("E0509", "priority-of-non-preemptive")
UNMARKED_CONTROL = Code("E0510", "unmarked-requestor")
REQUESTOR_PROVIDES_CPI = Code("E0511", "requestor-provides-cpi")
MIXED_CALLERS = Code("E0512", "mixed-callers")
CONNECTOR_WITHOUT_PROTOCOLS = Code("E0513", "connector-without-protocols")
CALL_WITHOUT_TASK = Code("E0514", "call-without-task")
TASK_ID_RANGE = Code("E0515", "task-id-out-of-range")
REQUESTS_CONTRADICTED = Code("E0516", "requests-contradicted")
NO_SIGNALLER = Code("E0517", "no-signaller")
WRONG_HELPER = Code("E0518", "wrong-helper")
WAIT_HOLDS_LOCK = Code("E0519", "wait-holds-lock")
HELPERS_WITHOUT_THREAD = Code("E0521", "helpers-without-thread")
HELPERS_UNSUPPORTED = Code("E0522", "helpers-unsupported")
WAIT_OUTSIDE_MONITOR = Code("E0523", "wait-outside-monitor")
UNUSED_CLAUSE = Code("W0501", "unused-clause")
TOO_MANY_THREADS = Code("W0502", "more-threads-than-needed")
NO_TASK_REACHES = Code("W0503", "unreachable-cpi")
NOT_RATE_MONOTONIC = Code("W0504", "not-rate-monotonic")
REQUESTS_MISSING = Code("W0505", "requests-missing")
MAYBE_WITHOUT_TASK = Code("W0506", "maybe-call-without-task")
UNUSED_REQUEST = Code("W0507", "unused-request")
MAYBE_CONTRADICTED = Code("W0508", "requests-maybe-contradicted")
PLAIN_CYCLE = Code("W0509", "cycle-without-protocol")
HELPER_NOT_STATED = Code("W0510", "helper-not-stated")
INVERSION_AT_WAIT = Code("W0511", "inversion-at-wait")
