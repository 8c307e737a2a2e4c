# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# Checks of the folders of a workspace.

include_guard(GLOBAL)

# The options of the folder that is read, without these.
function(camkes_remove_compile_options)
    get_directory_property(options COMPILE_OPTIONS)
    list(REMOVE_ITEM options "" ${ARGN})
    set_directory_properties(PROPERTIES COMPILE_OPTIONS "${options}")
endfunction()

# Options for all that is compiled in the folder of a target.
function(camkes_add_compile_options_beside target)
    get_target_property(folder ${target} SOURCE_DIR)
    get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(each IN LISTS targets)
        get_target_property(type ${each} TYPE)
        if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE)$")
            target_compile_options(${each} PRIVATE ${ARGN})
        endif()
    endforeach()
endfunction()

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
