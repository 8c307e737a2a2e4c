# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# The components of common.camkes and requests.camkes.
set(measure ${CMAKE_CURRENT_LIST_DIR})

function(DeclareServer name pages)
    DeclareCAmkESComponent(
        ${name}
        SOURCES ${ARGN} ${measure}/apart.c
        INCLUDES ${measure}/include
        C_FLAGS -DPAGES=${pages}
    )
endfunction()

foreach(server IN ITEMS Plain Fixed Propagated Inherited)
    DeclareServer(${server} 24 ${measure}/server.c)
endforeach()
DeclareCAmkESComponent(Inherited C_FLAGS -DRELEASES)
DeclareCAmkESComponent(Fixed C_FLAGS -DRELEASES -DYIELDS)
DeclareServer(PassInherited 48 ${measure}/pass.c)
foreach(client IN ITEMS Client Queued Holder)
    string(TOLOWER ${client} source)
    DeclareCAmkESComponent(${client} SOURCES ${measure}/${source}.c INCLUDES ${measure}/include)
endforeach()
DeclareCAmkESComponent(Empty SOURCES ${measure}/include/empty.c)
