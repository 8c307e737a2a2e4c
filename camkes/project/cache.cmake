# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# The first entries of CMake's cache. CMake finds its platform and its compilers described already, as in a
# folder that was configured before, and probes nothing: to read declarations no compiler is needed.
# Set before: CAMKES_MACHINE, CAMKES_COMPILERS (the folder for the descriptions), CAMKES_NINJA, and of each
# LANGUAGE the compiler CAMKES_LANGUAGE, its first argument CAMKES_LANGUAGE_ARGUMENT, CAMKES_LANGUAGE_ID and
# CAMKES_LANGUAGE_VERSION.

set(CMAKE_PLATFORM_INFO_INITIALIZED 1 CACHE INTERNAL "")
set(CMAKE_MAKE_PROGRAM "${CAMKES_NINJA}" CACHE INTERNAL "")
set(CMAKE_CXX_SCAN_FOR_MODULES OFF CACHE INTERNAL "")
set(CMAKE_PROJECT_INCLUDE_BEFORE "${CMAKE_CURRENT_LIST_DIR}/recorder.cmake" CACHE INTERNAL "")
set(CMAKE_PROJECT_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/languages.cmake" CACHE INTERNAL "")
set(CMAKE_POLICY_VERSION_MINIMUM 3.5 CACHE INTERNAL "")

set(folder "${CAMKES_COMPILERS}/${CMAKE_VERSION}")
file(
    WRITE "${folder}/CMakeSystem.cmake"
    "set(CMAKE_HOST_SYSTEM Linux)
set(CMAKE_HOST_SYSTEM_NAME Linux)
set(CMAKE_HOST_SYSTEM_PROCESSOR ${CAMKES_MACHINE})
set(CMAKE_SYSTEM Linux)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CAMKES_MACHINE})
set(CMAKE_CROSSCOMPILING FALSE)
set(CMAKE_SYSTEM_LOADED 1)
"
)
set(suffixes_C c)
set(suffixes_CXX "C;cc;cpp;cxx;c++")
set(suffixes_ASM "S;s")
set(computed_C 17)
set(computed_CXX 17)
set(preference_C 10)
set(preference_CXX 30)
set(preference_ASM 0)
# The sandbox prevents changes of file modes, which linkers make: the program gets the mode by being copied.
string(
    CONCAT
    link
    "<FLAGS> <CMAKE_@_LINK_FLAGS> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>"
    " && cp /bin/sh <TARGET>.mode && cat <TARGET> > <TARGET>.mode && mv <TARGET>.mode <TARGET>"
)
foreach(language IN ITEMS C CXX ASM)
    string(REPLACE "@" "${language}" link_${language} "<CMAKE_@_COMPILER> ${link}")
    file(
        WRITE "${folder}/CMake${language}Compiler.cmake"
        "set(CMAKE_${language}_COMPILER \"${CAMKES_${language}}\")
set(CMAKE_${language}_COMPILER_ARG1 \"${CAMKES_${language}_ARGUMENT}\")
set(CMAKE_${language}_COMPILER_ID ${CAMKES_${language}_ID})
set(CMAKE_${language}_COMPILER_VERSION ${CAMKES_${language}_VERSION})
get_property(features GLOBAL PROPERTY CMAKE_${language}_KNOWN_FEATURES)
set(CMAKE_${language}_COMPILE_FEATURES \"\${features}\")
set(CMAKE_${language}_COMPILER_ID_RUN 1)
set(CMAKE_${language}_COMPILER_LOADED 1)
set(CMAKE_${language}_COMPILER_FORCED TRUE)
set(CMAKE_${language}_COMPILER_WORKS TRUE)
set(CMAKE_${language}_ABI_COMPILED TRUE)
set(CMAKE_${language}_STANDARD_COMPUTED_DEFAULT \"${computed_${language}}\")
set(CMAKE_${language}_EXTENSIONS_COMPUTED_DEFAULT ON)
set(CMAKE_${language}_SOURCE_FILE_EXTENSIONS \"${suffixes_${language}}\")
set(CMAKE_${language}_LINKER_PREFERENCE ${preference_${language}})
set(CMAKE_COMPILER_IS_GNUCC 1)
set(CMAKE_${language}_LINK_EXECUTABLE \"${link_${language}}\")
set(CMAKE_AR ar)
set(CMAKE_RANLIB ranlib)
set(CMAKE_${language}_SIZEOF_DATA_PTR 8)
set(CMAKE_SIZEOF_VOID_P 8)
"
    )
endforeach()
