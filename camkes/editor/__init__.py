# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The editor server: results of the pipeline in terms of the Language Server Protocol."""
