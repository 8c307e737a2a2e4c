# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about call graphs."""

from __future__ import annotations

from camkes.diagnostics import Code

UNBOUNDED_CALL = Code("N0741", "unbounded-call")
CODE_NOT_READ = Code("N0742", "code-not-read")
REQUESTS_NOT_COUNTED = Code("E0743", "requests-not-counted")
LOOP_WITHOUT_END = Code("E0746", "loop-without-end")
MORE_REQUESTS = Code("E0744", "more-requests-than-stated")
