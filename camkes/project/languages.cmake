# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# CMake includes this file at the end of each project() (CMAKE_PROJECT_INCLUDE). The first one is that of the top
# folder, where a workspace enables all languages: those that a subfolder adds are not known above it.

include_guard(GLOBAL)
enable_language(C)
enable_language(CXX)
enable_language(ASM)
if(CAMKES_WORKSPACE)
    include("${CMAKE_CURRENT_LIST_DIR}/workspace.cmake")
endif()
