# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# Options of a CAmkES build, with the names that camkes-tool uses.

include_guard(GLOBAL)

function(camkes_option name type default text)
    set(${name} "${default}" CACHE ${type} "${text}")
    if(CAMKES_CONFIG_DEFAULT_ADVANCED)
        mark_as_advanced(${name})
    endif()
endfunction()

camkes_option(CAmkESVerbose BOOL OFF "Say what the tool does")
camkes_option(CAmkESCPP BOOL ON "Run the C preprocessor on .camkes files")
camkes_option(CAmkESAllowForwardReferences BOOL OFF "Let names be used before they are defined")
camkes_option(CAmkESDTS BOOL OFF "Let dtb() queries ask a device tree")
camkes_option(CAmkESDefaultStackSize STRING 16384 "Bytes of stack of a thread without a setting")
camkes_option(CAmkESDefaultPriority STRING 254 "Priority of a thread without a setting, 0 to 255")
camkes_option(CAmkESDefaultAffinity STRING 0 "Core of a thread without a setting")
camkes_option(CAmkESProvideTCBCaps BOOL ON "Give each thread its own TCB capability")
camkes_option(CAmkESFaultHandlers BOOL ON "Report faults of components")
camkes_option(CAmkESTrace BOOL OFF "Print a trace of what components do instead of their output")
camkes_option(CAmkESLargeFramePromotion BOOL ON "Back images with large frames where they fill one")
camkes_option(CAmkESRPCLockElision BOOL ON "For compatibility: requests have no locks, as with ON")
camkes_option(CAmkESDMALargeFramePromotion BOOL OFF "Make DMA pools of the largest frames that they fill")
camkes_option(CAmkESCapDLStaticAlloc BOOL OFF "Allocate all objects when a system is built")
camkes_option(CAmkESCapDLVerification BOOL OFF "Generate definitions for proofs")
camkes_option(
    CAmkESParseCapDL STRING OFF "Make the loader's tables by parse-capDL: ON, or the program"
)

# A virtual environment of camkes-rt has what the tool imports; the kernel's Python may not.
if(EXISTS "${CAMKES_TOOL_DIR}/.venv/bin/python")
    set(_camkes_python "${CAMKES_TOOL_DIR}/.venv/bin/python")
else()
    set(_camkes_python "")
endif()
camkes_option(CAmkESPython FILEPATH "${_camkes_python}" "Python that runs the tool; empty: the kernel's")
unset(_camkes_python)

if(NOT CAmkESDefaultPriority MATCHES "^[0-9]+$" OR CAmkESDefaultPriority GREATER 255)
    message(FATAL_ERROR "CAmkESDefaultPriority must be 0 to 255, not ${CAmkESDefaultPriority}")
endif()
if(CAmkESCapDLVerification AND NOT CAmkESCapDLStaticAlloc)
    message(
        FATAL_ERROR
            "CAmkESCapDLVerification needs CAmkESCapDLStaticAlloc: theories name the memory of each object"
    )
endif()
if(CAmkESCapDLStaticAlloc AND NOT KernelArch STREQUAL "arm")
    message(
        FATAL_ERROR
            "CAmkESCapDLStaticAlloc needs a kernel whose build lists the memory that it leaves to components, which\n"
            "is one for Arm: the memory of a PC is not known before it boots. Leave the option out."
    )
endif()

# Options without an effect in camkes-rt: setting one gives a warning.
function(camkes_option_without_effect name default why)
    if(DEFINED ${name})
        set(given "${${name}}")
        if("${given}" MATCHES "^(0|OFF|NO|FALSE)$")
            set(given OFF)
        elseif("${given}" MATCHES "^(1|ON|YES|TRUE)$")
            set(given ON)
        endif()
        if(NOT "${given}" STREQUAL "${default}" AND NOT "${given}" STREQUAL "")
            message(WARNING "${name}=${${name}} has no effect: ${why}")
        endif()
    endif()
endfunction()
camkes_option_without_effect(CAmkESRPCLockElision ON "requests have no locks, which is what ON asks for")
camkes_option_without_effect(
    CAmkESTLSModel standard "no code reads it, here and in camkes-tool; generated code has no thread-local variables"
)

# Components have heaps of their own, so the C library must not have one.
set(LibSel4MuslcSysMorecoreBytes 0 CACHE STRING "" FORCE)

# Before the kernel is configured: settings that the clock and the timer driver need, unless they are set.
function(camkes_set_platform_defaults)
    if(KernelArch STREQUAL "arm")
        foreach(registers VCNT PTMR)
            set(KernelArmExport${registers}User ON CACHE BOOL "For clock and timers of camkes-rt")
        endforeach()
    endif()
endfunction()
