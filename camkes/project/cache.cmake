# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# The first entries of CMake's cache. CMake finds its platform and its compilers described already, as in a
# folder that was configured before, and probes nothing: to read declarations no compiler is needed.
# CAMKES_MACHINE, CAMKES_COMPILERS (the folder for the descriptions) and CAMKES_CC are given on the command line.

set(CMAKE_PLATFORM_INFO_INITIALIZED 1 CACHE INTERNAL "")
set(CMAKE_MAKE_PROGRAM /bin/true CACHE INTERNAL "")
set(CMAKE_PROJECT_INCLUDE_BEFORE "${CMAKE_CURRENT_LIST_DIR}/recorder.cmake" CACHE INTERNAL "")
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
foreach(language IN ITEMS C CXX ASM)
    file(
        WRITE "${folder}/CMake${language}Compiler.cmake"
        "set(CMAKE_${language}_COMPILER \"${CAMKES_CC}\")
set(CMAKE_${language}_COMPILER_ID GNU)
set(CMAKE_${language}_COMPILER_ID_RUN 1)
set(CMAKE_${language}_COMPILER_LOADED 1)
set(CMAKE_${language}_COMPILER_FORCED TRUE)
set(CMAKE_${language}_COMPILER_WORKS TRUE)
set(CMAKE_${language}_ABI_COMPILED TRUE)
set(CMAKE_${language}_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_${language}_EXTENSIONS_COMPUTED_DEFAULT ON)
set(CMAKE_${language}_SOURCE_FILE_EXTENSIONS \"${suffixes_${language}}\")
set(CMAKE_${language}_LINKER_PREFERENCE 10)
set(CMAKE_COMPILER_IS_GNUCC 1)
set(CMAKE_SIZEOF_VOID_P 8)
"
    )
endforeach()
