# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about an application's CMakeLists.txt."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_APPLICATION = Code(
    "E0701",
    "no-application",
    """The path is neither a `.camkes` file nor a folder with a `CMakeLists.txt` that declares a root server.

In a folder without `CMakeLists.txt`, exactly one `.camkes` file must have an assembly.

An application's `CMakeLists.txt` names the assembly it is built from:

```cmake
project(adder C)
DeclareCAmkESComponent(Client SOURCES components/Client/src/client.c)
DeclareCAmkESRootserver(adder.camkes)
```
""",
)

CMAKE_SYNTAX = Code(
    "E0702",
    "cmake-syntax",
    """A `CMakeLists.txt` cannot be read: a command is not closed, or an `if`, `foreach`, `function` or
`macro` has no end.

Fails:

```cmake
DeclareCAmkESComponent(Client SOURCES client.c
```

Works:

```cmake
DeclareCAmkESComponent(Client SOURCES client.c)
```
""",
)

CMAKE_FAILED = Code(
    "E0703",
    "cmake-failed",
    """A `CMakeLists.txt` uses something that the tool does not read itself, and running CMake on it
failed too.

The tool reads the usual commands of an application's `CMakeLists.txt` at once and runs CMake for the
others. CMake runs without the kernel's own build system, so commands of other projects are not known to it.
Keep what belongs to the workspace (tests, simulation, kernel settings) in the workspace's own
`CMakeLists.txt`, or guard it with `if(COMMAND the_command)`.
""",
)

CMAKE_MESSAGE = Code(
    "E0704",
    "application-refused",
    """The application's `CMakeLists.txt` stops with `message(FATAL_ERROR ...)`, usually because it
supports other platforms only, or needs an option. Options are given as to CMake: `-D NAME=VALUE`. A build for
another platform is one for seL4: `--kernel sel4 -D PLATFORM=...`.
""",
)

CMAKE_WARNING = Code(
    "W0705",
    "application-warning",
    """The application's `CMakeLists.txt` says so with `message(WARNING ...)`. What it
warns of is the application's matter; the build goes on.

```cmake
if(NOT KernelPlatformZynq7000)
    message(WARNING "only tested on the Zynq")
endif()
```
""",
)

CMAKE_ARGUMENTS = Code(
    "E0706",
    "cmake-arguments",
    """A CAmkES function in a `CMakeLists.txt` has an argument it does not know, or lacks one.

Fails:

```cmake
DeclareCAmkESComponent(Client client.c)
```

Works:

```cmake
DeclareCAmkESComponent(Client SOURCES client.c)
```
""",
)

SEVERAL_ROOTS = Code(
    "E0707",
    "several-root-servers",
    """An application declares one root server, and `DeclareCAmkESRootserver` was called again.

Fails:

```cmake
DeclareCAmkESRootserver(small.camkes)
DeclareCAmkESRootserver(large.camkes)
```

Works, with `-D LARGE=ON` for the other:

```cmake
option(LARGE "all of it" OFF)
if(LARGE)
    DeclareCAmkESRootserver(large.camkes)
else()
    DeclareCAmkESRootserver(small.camkes)
endif()
```
""",
)

MISSING_FILE = Code(
    "E0708",
    "missing-file",
    """A file that a `CMakeLists.txt` names does not exist. Relative paths start at the folder of that
`CMakeLists.txt`.

Fails, where the file is `src/client.c`:

```cmake
DeclareCAmkESComponent(Client SOURCES client.c)
```

Works:

```cmake
DeclareCAmkESComponent(Client SOURCES src/client.c)
```
""",
)

MISSING_SOURCE = Code(
    "W0709",
    "missing-source",
    """A source that a `CMakeLists.txt` names does not exist. To check and to plan it is not needed; a build
stops with E0708.

Sources of the priority-aware-camkes library are not needed: `camkes migrate` takes them out.
""",
)

CODES = (
    NO_APPLICATION,
    CMAKE_SYNTAX,
    CMAKE_FAILED,
    CMAKE_MESSAGE,
    CMAKE_WARNING,
    CMAKE_ARGUMENTS,
    SEVERAL_ROOTS,
    MISSING_FILE,
    MISSING_SOURCE,
)
