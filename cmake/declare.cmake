# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# The declarations of an application. They are stored in properties of targets and of the
# project; GenerateCAmkESRootserver reads them when the last list file has been read.

include_guard(GLOBAL)

# Files of the caller: relative to its source folder, or to its binary folder if they are made there.
function(_camkes_absolute output)
    set(paths "")
    foreach(path IN LISTS ARGN)
        get_absolute_list_source_or_binary(path "${path}")
        list(APPEND paths "${path}")
    endforeach()
    set(${output} "${paths}" PARENT_SCOPE)
endfunction()

function(_camkes_not_after_generation what)
    get_property(done GLOBAL PROPERTY CAMKES_GEN_DONE)
    if(done)
        message(FATAL_ERROR "${what} comes after GenerateCAmkESRootserver(), too late to be seen")
    endif()
endfunction()

# --- components ------------------------------------------------------------------------------------

set(_camkes_component_lists
    SOURCES
    INCLUDES
    C_FLAGS
    CXX_FLAGS
    LD_FLAGS
    LIBS
    TEMPLATE_SOURCES
    TEMPLATE_HEADERS
    CAKEML_SOURCES
    CAKEML_DEPENDS
    CAKEML_INCLUDES
    CACHE INTERNAL ""
)
set(_camkes_component_values CAKEML_HEAP_SIZE CAKEML_STACK_SIZE LINKER_LANGUAGE CACHE INTERNAL "")
set(_camkes_component_paths SOURCES INCLUDES CAKEML_SOURCES CAKEML_INCLUDES CACHE INTERNAL "")

function(_camkes_extend_component target)
    cmake_parse_arguments(
        PARSE_ARGV 1 ARG "" "${_camkes_component_values}" "${_camkes_component_lists}"
    )
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "${target} does not know what these are: ${ARG_UNPARSED_ARGUMENTS}")
    endif()
    if(NOT TARGET ${target})
        add_custom_target(${target})
        set_property(GLOBAL APPEND PROPERTY CAMKES_COMPONENTS "${target}")
    endif()
    foreach(keyword IN LISTS _camkes_component_lists)
        set(values "${ARG_${keyword}}")
        if(keyword IN_LIST _camkes_component_paths)
            _camkes_absolute(values ${values})
        endif()
        if(NOT "${values}" STREQUAL "")
            set_property(TARGET ${target} APPEND PROPERTY COMPONENT_${keyword} "${values}")
        endif()
    endforeach()
    foreach(keyword IN LISTS _camkes_component_values)
        if(ARG_${keyword})
            set_property(TARGET ${target} PROPERTY COMPONENT_${keyword} "${ARG_${keyword}}")
        endif()
    endforeach()
endfunction()

# DeclareCAmkESComponent(NAME [SOURCES ..] [INCLUDES ..] [C_FLAGS ..] [CXX_FLAGS ..] [LD_FLAGS ..]
#   [LIBS ..] [TEMPLATE_SOURCES ..] [TEMPLATE_HEADERS ..] [CAKEML_SOURCES ..] [CAKEML_DEPENDS ..]
#   [CAKEML_INCLUDES ..] [CAKEML_HEAP_SIZE n] [CAKEML_STACK_SIZE n] [LINKER_LANGUAGE language])
# A second call for a component adds to the first.
function(DeclareCAmkESComponent name)
    _camkes_extend_component(CAmkESComponent_${name} ${ARGN})
endfunction()

# The same for one instance: its include folders come before the component's, its flags after.
function(ExtendCAmkESComponentInstance component instance)
    _camkes_extend_component(CAmkESComponent_${component}_instance_${instance} ${ARGN})
endfunction()

# --- connectors ------------------------------------------------------------------------------------

# DeclareCAmkESConnector(NAME [FROM template] [TO template] [CAKEML_TO template] [FROM_HEADER template]
#   [TO_HEADER template] [FROM_LIBS ..] [TO_LIBS ..])
function(DeclareCAmkESConnector name)
    set(values FROM TO CAKEML_TO FROM_HEADER TO_HEADER)
    set(lists FROM_LIBS TO_LIBS)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "${values}" "${lists}")
    set(target CAmkESConnector_${name})
    if(NOT TARGET ${target})
        add_custom_target(${target})
        set_property(GLOBAL APPEND PROPERTY CAMKES_CONNECTORS "${name}")
    endif()
    foreach(keyword IN LISTS values lists)
        if(NOT "${ARG_${keyword}}" STREQUAL "")
            set_property(TARGET ${target} APPEND PROPERTY CONNECTOR_${keyword} "${ARG_${keyword}}")
        endif()
    endforeach()
endfunction()

# --- where things are ------------------------------------------------------------------------------

# Folders in which `import <...>;` looks.
function(CAmkESAddImportPath)
    _camkes_not_after_generation(CAmkESAddImportPath)
    _camkes_absolute(paths ${ARGN})
    set_property(GLOBAL APPEND PROPERTY CAmkESExtraImportPaths "${paths}")
endfunction()

# Those of the folders that exist.
function(CAmkESMaybeAddImportPath)
    foreach(path IN LISTS ARGN)
        if(EXISTS "${path}")
            CAmkESAddImportPath("${path}")
        endif()
    endforeach()
endfunction()

# Folders in which templates of connectors are looked for.
function(CAmkESAddTemplatesPath)
    _camkes_not_after_generation(CAmkESAddTemplatesPath)
    _camkes_absolute(paths ${ARGN})
    set_property(GLOBAL APPEND PROPERTY CAmkESTemplatePaths "${paths}")
endfunction()

# Folders in which #include of a .camkes file looks.
function(CAmkESAddCPPInclude)
    _camkes_not_after_generation(CAmkESAddCPPInclude)
    _camkes_absolute(paths ${ARGN})
    list(TRANSFORM paths PREPEND "-I")
    set_property(GLOBAL APPEND PROPERTY CAMKES_ROOT_CPP_FLAGS "${paths}")
endfunction()

# --- the system ------------------------------------------------------------------------------------

# DeclareCAmkESRootserver(ADL [DTS_FILE_PATH file | DTB_FILE_PATH file] [CPP_FLAGS ..] [CPP_INCLUDES ..])
# A project has one.
function(DeclareCAmkESRootserver adl)
    cmake_parse_arguments(
        PARSE_ARGV 1 ARG "" "DTS_FILE_PATH;DTB_FILE_PATH" "CPP_FLAGS;CPP_INCLUDES"
    )
    get_property(before GLOBAL PROPERTY CAMKES_ROOT_ADL)
    if(before)
        message(FATAL_ERROR "a project has one system: ${before} was declared before ${adl}")
    endif()
    if(ARG_DTS_FILE_PATH AND ARG_DTB_FILE_PATH)
        message(FATAL_ERROR "DTS_FILE_PATH and DTB_FILE_PATH exclude each other")
    endif()
    _camkes_absolute(adl "${adl}")
    set_property(GLOBAL PROPERTY CAMKES_ROOT_ADL "${adl}")
    foreach(kind DTS DTB)
        _camkes_absolute(file ${ARG_${kind}_FILE_PATH})
        set_property(GLOBAL PROPERTY CAMKES_ROOT_${kind} "${file}")
    endforeach()
    CAmkESAddCPPInclude(${ARG_CPP_INCLUDES})
    set_property(GLOBAL APPEND PROPERTY CAMKES_ROOT_CPP_FLAGS "${ARG_CPP_FLAGS}")
endfunction()
