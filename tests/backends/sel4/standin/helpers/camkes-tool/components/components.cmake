# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers

CAmkESAddImportPath("${CMAKE_CURRENT_LIST_DIR}")
CAmkESMaybeAddImportPath("${CMAKE_CURRENT_LIST_DIR}/nowhere")
