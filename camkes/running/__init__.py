# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Traces of runs: events as they were recorded, the names of what they are about, and the model of a run that
is decoded from both. Tables, pictures and files of other tools are renderings of that model."""
