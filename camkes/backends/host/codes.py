# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of builds and runs."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_SOURCES = Code("E0721", "no-sources")
COMPILE_ERROR = Code("E0722", "compile-error")
LINK_ERROR = Code("E0723", "link-error")
NO_COMPILER = Code("E0724", "no-compiler")
BUILD_FOLDER = Code("E0725", "build-folder")
FOLDER_IN_USE = Code("E0726", "folder-in-use")
KERNEL_BUILD = Code("E0727", "host-kernel-build")
COMPILE_WARNING = Code("W0728", "compile-warning")
FAULT = Code("E0729", "fault")
RUN_FAILED = Code("E0730", "run-failed")
WAITS_FOR_EVER = Code("W0731", "waits-for-ever")
C_TYPE = Code("E0736", "c-type")
UNUSABLE_NAME = Code("E0735", "unusable-name")
SUBSTITUTE = Code("N0734", "device-substituted")
LOW_LIMIT = Code("E0732", "low-limit")
SANITIZER = Code("E0733", "sanitizer-finding")
NO_DEBUGGER = Code("E0738", "no-debugger")
NO_SUCH_EVENT = Code("E0739", "no-such-event")
INITIALISER_NOT_CALLED = Code("W0750", "initialiser-not-called")
NO_COVERAGE = Code("E0740", "no-coverage")
DEADLOCK = Code("E0737", "deadlocked-run")
