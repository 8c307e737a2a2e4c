# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connectors that are rendered from upstream templates, as camkes-tool renders them.

Hardware connectors, those of global-components and those of applications are templates, which allocate
kernel objects while they are rendered. This package offers them the names that they expect (`context`), a
view of the system in the words they know (`view`), and records what they allocate (`objects`).
`adapter.render` gives the rendered files and a model with everything in it.
"""
