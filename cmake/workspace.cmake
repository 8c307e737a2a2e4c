# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# Checks of the folders of a workspace.

include_guard(GLOBAL)

# The C library is built in a copy of its folder, from which files are deleted.
macro(camkes_check_workspace)
    # The copy of a link would be the folder itself.
    get_filename_component(MUSLLIBC_CURRENT_DIR "${MUSLLIBC_CURRENT_DIR}" REALPATH)
    if(IS_DIRECTORY "${MUSLLIBC_CURRENT_DIR}/.git")
        message(
            FATAL_ERROR
                "musllibc can be built only if its repository is outside its folder (a file .git names it, as\n"
                "repo-init.sh arranges it). Move the repository, nothing is lost:\n"
                "    git -C ${MUSLLIBC_CURRENT_DIR} init --separate-git-dir=${MUSLLIBC_CURRENT_DIR}.git"
        )
    endif()
endmacro()
