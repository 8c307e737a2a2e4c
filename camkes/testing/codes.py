# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of tests."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_TESTS = Code("E0760", "no-tests")
CHECK_FAILED = Code("E0761", "check-failed")
NOT_FINISHED = Code("E0762", "test-not-finished")
NOT_AS_EXPECTED = Code("E0763", "expectation-not-met")
PROPERTY_VIOLATED = Code("E0764", "property-violated")
OUTPUT_DIFFERS = Code("E0765", "output-differs")
TEST_SETTINGS = Code("E0766", "test-settings")
