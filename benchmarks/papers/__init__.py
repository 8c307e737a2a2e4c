# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random task sets over fixed topologies, as in the papers of Sudvarg et al.: how many of them which test
accepts, and whether a simulation of them misses a deadline.

`generate` draws them, `evaluate` looks at one, `sweep` at many on many processors, `figure` draws the result.
"""
