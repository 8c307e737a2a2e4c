# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The editor server: the pipeline's answers in the words of the Language Server Protocol."""
