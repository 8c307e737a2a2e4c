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
    """A `CMakeLists.txt` cannot be read: a command is not closed, a byte is not text, or an `if`, `foreach`,
`function` or `macro` has no end.

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
    """CMake found an error in the application's `CMakeLists.txt`, or in a file that this includes. The
    message is
CMake's, the place the one it names.

CMake configures the application alone, with the functions of CAmkES and without the kernel's own build
system, so commands of other projects are not known to it. Keep what belongs to the workspace (tests,
simulation, kernel settings) in the workspace's own `CMakeLists.txt`, or guard it with `if(COMMAND
the_command)`. """,
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

CMAKE_MISSING = Code(
    "E0710",
    "cmake-missing",
    """The folder has a `CMakeLists.txt`, and there is no CMake to read it: CMake alone knows what the file
    means.

Install CMake 3.19 or newer (`apt install cmake`, or `pip install cmake`). A folder without `CMakeLists.txt`
needs none: the sources of a component are then found by its name. """,
)

CMAKE_LIMIT = Code(
    "E0711",
    "cmake-limit",
    """CMake did not come to an end within the limits of time and memory that it has for reading an
    application,
so it was stopped. The place is the last command that it is known to have run. Usual causes: a `while` that
never ends, a program that waits (`execute_process`), a file that never ends (`include`, `file(READ)`).
""",
)

NOT_TRUSTED = Code(
    "E0712",
    "not-trusted",
    """Reading a `CMakeLists.txt` means running CMake on it, and its commands can start programs and write
    files.
On Linux with Landlock and seccomp, CMake runs confined: it writes only a scratch folder and has no network.
On this machine that is not possible, so the tool asks first.

`camkes trust DIR` says once that you trust a folder and all below it. It is stored in
`~/.config/camkes-rt/trusted`, one folder a line; delete the line to take it back.
""",
)

UNKNOWN_DEFINITION = Code(
    "W0713",
    "unknown-definition",
    """No CMake file of the application uses a variable that was given with `-D`, so it has no effect.

```
camkes check -D CONFIGURATOIN=2 examples/nested    # warning: did you mean CONFIGURATION?
```

Settings of the kernel, such as `PLATFORM`, have an effect only with `--kernel sel4`.
""",
)

NOT_DECLARED = Code(
    "E0714",
    "component-not-declared",
    """A component has code to run (`control`, or an interface that it provides), and the application's
`CMakeLists.txt` does not say which sources it is built from.

Fails, where the component is `Logger`:

```cmake
DeclareCAmkESComponent(Loger SOURCES logger.c)
```

Works:

```cmake
DeclareCAmkESComponent(Logger SOURCES logger.c)
```

In a folder without `CMakeLists.txt`, sources are found by the component's name.
""",
)

NO_SUCH_INSTANCE = Code(
    "W0715",
    "no-such-instance",
    """`ExtendCAmkESComponentInstance` names an instance that the system does not have, so it has no effect.

```cmake
ExtendCAmkESComponentInstance(Logger log SOURCES more.c)    # component Logger log;
```
""",
)

MISSING_FOLDER = Code(
    "W0716",
    "missing-folder",
    """A folder that a `CMakeLists.txt` names does not exist: nothing will be found in it. Relative paths
    start
at the folder of that `CMakeLists.txt`.

```cmake
DeclareCAmkESComponent(Client SOURCES client.c INCLUDES include)    # there is no folder include
```
""",
)

REFUSED_FLAG = Code(
    "E0717",
    "refused-flag",
    """A flag in a `CMakeLists.txt` is not one that the tool hands on: a file that is only read must not be
    able to
start programs or to write files, as `-wrapper`, `-fplugin`, `-B`, `-o`, `-MF` and `@file` can.

`CPP_FLAGS` may have `-D`, `-U`, `-I`, `-include`, `-imacros`, `-isystem`, `-iquote`, `-idirafter`, `-std=`,
`-nostdinc`, `-undef`, `-P`, `-C`, `-m...`, `-f...` without a file, and `-W...` that is a warning. Flags that
you give on the command line (`--cpp-flag`) are your own and not looked at. """,
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
    CMAKE_MISSING,
    CMAKE_LIMIT,
    NOT_TRUSTED,
    UNKNOWN_DEFINITION,
    NOT_DECLARED,
    NO_SUCH_INSTANCE,
    MISSING_FOLDER,
    REFUSED_FLAG,
)
