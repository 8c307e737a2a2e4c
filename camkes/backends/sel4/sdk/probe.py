# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A small application that a workspace builds for an SDK: its commands, with marks where those of other
applications have something else, are those of the SDK."""

from __future__ import annotations

from pathlib import Path

from camkes.files import write_changed

#: instances: one that the compiler of C links, and one that the compiler of C++ links
ALONE, CXX = "sdkalone", "sdkcxx"
#: objects as instances of a group become them, which the system does not have
JOINED, HEAP = "sdkjoined", "sdkheap"
#: the marks
C_FLAG, CXX_FLAG, LINK_FLAG, FOLDER = "-DCAMKES_SDK_C", "-DCAMKES_SDK_CXX", "-Wl,--camkes-sdk", "marked"

_SYSTEM = f"""\
component SdkC {{ control; }}
component SdkCxx {{ control; }}
assembly {{
    composition {{
        component SdkC {ALONE};
        component SdkCxx {CXX};
    }}
}}
"""

_LISTS = f"""\
cmake_minimum_required(VERSION 3.16)
set(flags INCLUDES {FOLDER} C_FLAGS {C_FLAG} CXX_FLAGS {CXX_FLAG})
DeclareCAmkESComponent(SdkC SOURCES part.c other.cc other.S ${{flags}})
DeclareCAmkESComponent(SdkCxx SOURCES part.c ${{flags}} LINKER_LANGUAGE CXX)
DeclareCAmkESRootserver(sdk.camkes)
GenerateCAmkESRootserver()
set(folder "${{CMAKE_CURRENT_BINARY_DIR}}")
_camkes_join("${{folder}}/{JOINED}.o" {ALONE}.instance)
_camkes_add_heap("${{folder}}/{HEAP}.o" {HEAP} 4096)
add_custom_target(camkes_sdk DEPENDS "${{folder}}/{JOINED}.o" "${{folder}}/{HEAP}.o")
"""

_FILES = {
    "sdk.camkes": _SYSTEM,
    "CMakeLists.txt": _LISTS,
    "part.c": "int run(void)\n{\n    return 0;\n}\n",
    "other.cc": 'extern "C" int camkes_sdk_other;\nint camkes_sdk_other;\n',
    "other.S": ".text\n",
    f"{FOLDER}/readme": "Its name is a mark.\n",
}


def write_probe(folder: Path) -> None:
    """Write the application. OSError where that cannot be."""
    for name, text in _FILES.items():
        write_changed(folder / name, text)
