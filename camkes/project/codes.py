# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about an application's CMakeLists.txt."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_APPLICATION = Code("E0701", "no-application")
CMAKE_SYNTAX = Code("E0702", "cmake-syntax")
CMAKE_FAILED = Code("E0703", "cmake-failed")
CMAKE_MESSAGE = Code("E0704", "application-refused")
CMAKE_WARNING = Code("W0705", "application-warning")
CMAKE_ARGUMENTS = Code("E0706", "cmake-arguments")
SEVERAL_ROOTS = Code("E0707", "several-root-servers")
MISSING_FILE = Code("E0708", "missing-file")
MISSING_SOURCE = Code("W0709", "missing-source")
CMAKE_MISSING = Code("E0710", "cmake-missing")
CMAKE_LIMIT = Code("E0711", "cmake-limit")
NOT_TRUSTED = Code("E0712", "not-trusted")
UNKNOWN_DEFINITION = Code("W0713", "unknown-definition")
NOT_DECLARED = Code("E0714", "component-not-declared")
NO_SUCH_INSTANCE = Code("W0715", "no-such-instance")
MISSING_FOLDER = Code("W0716", "missing-folder")
REFUSED_FLAG = Code("E0717", "refused-flag")
FLAG_LEFT_OUT = Code("N0718", "flag-left-out")
KERNEL_SCHEDULE = Code("E0719", "kernel-schedule")
