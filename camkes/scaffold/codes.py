# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about projects and components that are written."""

from __future__ import annotations

from camkes.diagnostics import Code

PROJECT_EXISTS = Code("E0775", "project-exists")
PROJECT_NAME = Code("E0776", "project-name")
COMPONENT_EXISTS = Code("E0777", "component-exists")
NOT_EXPORTED = Code("E0778", "not-exported")
