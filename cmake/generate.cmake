# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# From declarations to an image: the tool runs once and lists the address spaces; each of them
# is compiled and linked; the linked images make the capability distribution that the loader boots.

include_guard(GLOBAL)

# muslc contains the functions of mathematics: `LIBS m` means those, and not the library of the workstation.
if(NOT TARGET m)
    add_library(m INTERFACE IMPORTED GLOBAL)
endif()

# What every component is linked with.
set(CAMKES_CORE_LIBS
    camkes_rt
    sel4
    sel4runtime
    muslc
    sel4camkes
    sel4sync
    utils
    sel4vka
    sel4utils
    sel4bench
    sel4platsupport
    platsupport
    sel4vspace
    sel4muslcsys
    sel4camkes_Config
    sel4runtime_Config
    sel4_autoconf
    CACHE INTERNAL ""
)

# --- the input of the tool ---------------------------------------------------------------------------

function(_camkes_json_list output)
    set(items "")
    foreach(item IN LISTS ARGN)
        string(REPLACE "\\" "\\\\" item "${item}")
        string(REPLACE "\"" "\\\"" item "${item}")
        list(APPEND items "\"${item}\"")
    endforeach()
    list(JOIN items ", " items)
    set(${output} "[${items}]" PARENT_SCOPE)
endfunction()

function(_camkes_json_bool output value)
    if(value)
        set(${output} true PARENT_SCOPE)
    else()
        set(${output} false PARENT_SCOPE)
    endif()
endfunction()

# The device tree for dtb() queries: that of the application, or that of the kernel.
function(_camkes_device_tree output)
    set(${output} "" PARENT_SCOPE)
    if(NOT CAmkESDTS)
        return()
    endif()
    get_property(dtb GLOBAL PROPERTY CAMKES_ROOT_DTB)
    get_property(dts GLOBAL PROPERTY CAMKES_ROOT_DTS)
    if(NOT dtb AND dts)
        set(dtb "${dts}.dtb")
        GenDTB("${dts}" dtb)
    elseif(NOT dtb)
        set(dtb "${KernelDTBPath}")
    endif()
    if(dtb AND NOT EXISTS "${dtb}")
        message(FATAL_ERROR "there is no device tree ${dtb}")
    endif()
    set(${output} "${dtb}" PARENT_SCOPE)
endfunction()

function(_camkes_gpio_list output)
    set(${output} "" PARENT_SCOPE)
    if(COMMAND get_device_list AND NOT KernelPlatform STREQUAL "pc99")
        set(platform "${KernelARMPlatform}")
        if(NOT platform)
            set(platform "${KernelPlatform}")
        endif()
        get_device_list(pins gpio "${platform}")
        if(EXISTS "${pins}")
            set(${output} "${pins}" PARENT_SCOPE)
        endif()
    endif()
endfunction()

# Adds a target to a JSON list: the component, instance or library that it is, and what it is built from as far
# as that is known. Generator expressions have no value yet.
function(_camkes_json_build output component instance library)
    set(item "\"component\": \"${component}\", \"instance\": \"${instance}\", \"library\": \"${library}\"")
    foreach(
        field
        IN
        ITEMS
        sources
        includes
        c_flags
        cxx_flags
        libs
        template_sources
        template_headers
    )
        list(FILTER ${field} EXCLUDE REGEX "\\$<|-NOTFOUND$")
        _camkes_json_list(values ${${field}})
        string(APPEND item ", \"${field}\": ${values}")
    endforeach()
    list(APPEND ${output} "{${item}}")
    set(${output} "${${output}}" PARENT_SCOPE)
endfunction()

# Components, their instances and the libraries that they name: the calls of handlers are found in their code.
function(_camkes_json_builds output)
    set(builds "")
    set(todo "")
    get_property(targets GLOBAL PROPERTY CAMKES_COMPONENTS)
    foreach(target IN LISTS targets)
        foreach(
            field
            IN
            ITEMS
            SOURCES
            INCLUDES
            C_FLAGS
            CXX_FLAGS
            LIBS
            TEMPLATE_SOURCES
            TEMPLATE_HEADERS
        )
            string(TOLOWER ${field} name)
            get_property(${name} TARGET ${target} PROPERTY COMPONENT_${field})
        endforeach()
        list(APPEND todo ${libs})
        string(REGEX REPLACE "^CAmkESComponent_" "" component "${target}")
        set(instance "")
        if(component MATCHES "^(.+)_instance_(.+)$")
            set(component "${CMAKE_MATCH_1}")
            set(instance "${CMAKE_MATCH_2}")
        endif()
        _camkes_json_build(builds "${component}" "${instance}" "")
    endforeach()
    set(template_sources "")
    set(template_headers "")
    set(seen ${CAMKES_CORE_LIBS})
    while(todo)
        list(POP_FRONT todo library)
        if(TARGET "${library}" AND NOT library IN_LIST seen)
            list(APPEND seen "${library}")
            _camkes_library_fields("${library}")
            list(APPEND todo ${libs})
            _camkes_json_build(builds "" "" "${library}")
        endif()
    endwhile()
    list(JOIN builds ",\n    " builds)
    set(${output} "[\n    ${builds}\n  ]" PARENT_SCOPE)
endfunction()

# How a library is built, in terms of a component. Of libraries outside the application only headers matter:
# they cannot call its interfaces.
function(_camkes_library_fields library)
    get_target_property(includes "${library}" INTERFACE_INCLUDE_DIRECTORIES)
    get_target_property(libs "${library}" INTERFACE_LINK_LIBRARIES)
    get_target_property(kind "${library}" TYPE)
    set(sources "")
    set(c_flags "")
    if(NOT kind STREQUAL "INTERFACE_LIBRARY")
        get_target_property(folder "${library}" SOURCE_DIR)
        get_target_property(files "${library}" SOURCES)
        get_property(home GLOBAL PROPERTY CAMKES_ROOT_ADL)
        get_filename_component(home "${home}" DIRECTORY)
        foreach(file IN LISTS files)
            get_filename_component(file "${file}" ABSOLUTE BASE_DIR "${folder}")
            string(FIND "${file}" "${home}/" place)
            if(place EQUAL 0)
                list(APPEND sources "${file}")
            endif()
        endforeach()
        get_target_property(linked "${library}" LINK_LIBRARIES)
        list(APPEND libs ${linked})
        get_target_property(own "${library}" INCLUDE_DIRECTORIES)
        get_target_property(c_flags "${library}" COMPILE_OPTIONS)
        get_directory_property(everywhere DIRECTORY "${folder}" COMPILE_OPTIONS)
        list(REMOVE_ITEM c_flags "" ${everywhere}) # those of the machine that is built for
        get_target_property(definitions "${library}" COMPILE_DEFINITIONS)
        get_directory_property(everywhere DIRECTORY "${folder}" COMPILE_DEFINITIONS)
        list(REMOVE_ITEM definitions "" ${everywhere})
        list(FILTER definitions EXCLUDE REGEX "-NOTFOUND$")
        list(TRANSFORM definitions PREPEND -D)
        list(APPEND includes ${own})
        list(APPEND c_flags ${definitions})
    endif()
    foreach(field IN ITEMS sources includes c_flags libs)
        set(${field} "${${field}}" PARENT_SCOPE)
    endforeach()
    set(cxx_flags "" PARENT_SCOPE)
endfunction()

# The templates of connectors, as a JSON object.
function(_camkes_json_connectors output)
    set(connectors "")
    get_property(names GLOBAL PROPERTY CAMKES_CONNECTORS)
    foreach(name IN LISTS names)
        set(target CAmkESConnector_${name})
        set(templates "")
        foreach(keyword IN ITEMS FROM TO FROM_HEADER TO_HEADER)
            get_property(files TARGET ${target} PROPERTY CONNECTOR_${keyword})
            set(file "")
            if(files)
                list(GET files -1 file)
            endif()
            list(APPEND templates "\"${keyword}\": \"${file}\"")
        endforeach()
        list(JOIN templates ", " templates)
        foreach(side IN ITEMS FROM TO)
            get_property(${side} TARGET ${target} PROPERTY CONNECTOR_${side}_LIBS)
            _camkes_json_list(${side} ${${side}})
        endforeach()
        list(
            APPEND
            connectors
            "\"${name}\": {\"templates\": {${templates}}, \"from_libs\": ${FROM}, \"to_libs\": ${TO}}"
        )
    endforeach()
    list(JOIN connectors ",\n    " connectors)
    set(${output} "{\n    ${connectors}\n  }" PARENT_SCOPE)
endfunction()

function(_camkes_write_project file folder)
    get_property(adl GLOBAL PROPERTY CAMKES_ROOT_ADL)
    get_property(flags GLOBAL PROPERTY CAMKES_ROOT_CPP_FLAGS)
    get_property(imports GLOBAL PROPERTY CAmkESExtraImportPaths)
    get_property(templates GLOBAL PROPERTY CAmkESTemplatePaths)
    if(flags AND NOT CAmkESCPP)
        message(FATAL_ERROR "${flags} are for the C preprocessor, which CAmkESCPP has turned off")
    endif()
    # lets a header that C and .camkes files share tell the two apart
    list(APPEND flags -DCAMKES_TOOL_PROCESSING)
    _camkes_json_list(flags ${flags})
    _camkes_json_list(imports ${imports})
    _camkes_json_list(templates ${templates})
    _camkes_json_bool(cpp "${CAmkESCPP}")
    _camkes_json_bool(forward "${CAmkESAllowForwardReferences}")
    _camkes_json_bool(faults "${CAmkESFaultHandlers}")
    _camkes_json_bool(trace "${CAmkESTrace}")
    _camkes_json_bool(large_frames "${CAmkESLargeFramePromotion}")
    _camkes_json_bool(tcb_caps "${CAmkESProvideTCBCaps}")
    _camkes_json_bool(verbose "${CAmkESVerbose}")
    _camkes_json_bool(verification "${CAmkESCapDLVerification}")
    set(frequency "${KernelTimerFrequency}")
    if(KernelPlatform STREQUAL "pc99")
        set(frequency "${KernelPC99TSCFrequency}")
    endif()
    set(three_levels false)
    if(KernelSel4ArchAarch64 AND KernelArmHypervisorSupport AND KernelArmPASizeBits40)
        set(three_levels true)
    endif()
    _camkes_json_bool(generic_timer "${KernelArmExportPTMRUser}")
    _camkes_json_bool(large_dma "${CAmkESDMALargeFramePromotion}")
    _camkes_json_connectors(connectors)
    _camkes_json_bool(mcs "${KernelIsMCS}")
    set(heap "${CAmkESDefaultHeapSize}") # an option of libsel4camkes
    if(NOT heap)
        set(heap 1048576)
    endif()
    math(EXPR heap "${heap}") # JSON has no hexadecimal numbers
    math(EXPR stack "${CAmkESDefaultStackSize}")
    _camkes_device_tree(dtb)
    _camkes_gpio_list(pins)
    _camkes_json_builds(builds)
    _camkes_json_list(core ${CAMKES_CORE_LIBS})
    file(
        WRITE "${file}"
        "{
  \"adl\": \"${adl}\",
  \"output\": \"${folder}\",
  \"architecture\": \"${KernelSel4Arch}\",
  \"platform\": \"${KernelPlatform}\",
  \"generic_timer\": ${generic_timer},
  \"three_levels\": ${three_levels},
  \"timer_frequency\": \"${frequency}\",
  \"kernel_settings\": {
    \"KernelDomainSchedule\": \"${KernelDomainSchedule}\",
    \"KernelNumDomains\": \"${KernelNumDomains}\",
    \"KernelTimerTickMS\": \"${KernelTimerTickMS}\"
  },
  \"kernel_dtb\": \"${KernelDTBPath}\",
  \"import_paths\": ${imports},
  \"template_paths\": ${templates},
  \"connectors\": ${connectors},
  \"large_dma_frames\": ${large_dma},
  \"cpp\": ${cpp},
  \"cpp_flags\": ${flags},
  \"allow_forward_references\": ${forward},
  \"dtb\": \"${dtb}\",
  \"gpio_list\": \"${pins}\",
  \"fault_handlers\": ${faults},
  \"heap_size\": ${heap},
  \"trace\": ${trace},
  \"mcs\": ${mcs},
  \"large_frames\": ${large_frames},
  \"tcb_caps\": ${tcb_caps},
  \"verbose\": ${verbose},
  \"verification\": ${verification},
  \"priority\": ${CAmkESDefaultPriority},
  \"stack_size\": ${stack},
  \"affinity\": ${CAmkESDefaultAffinity},
  \"core_libraries\": ${core},
  \"builds\": ${builds}
}
"
    )
endfunction()

# --- images --------------------------------------------------------------------------------------------

# Properties of an instance: those of the component, then those of the instance (`FIRST`: the other way).
function(_camkes_component_property output type instance keyword)
    set(component "CAmkESComponent_${type}")
    set(own "CAmkESComponent_${type}_instance_${instance}")
    foreach(target IN ITEMS ${component} ${own})
        if(NOT TARGET ${target})
            add_custom_target(${target})
        endif()
    endforeach()
    get_property(general TARGET ${component} PROPERTY COMPONENT_${keyword})
    get_property(special TARGET ${own} PROPERTY COMPONENT_${keyword})
    if("FIRST" IN_LIST ARGN)
        set(${output} ${special} ${general} PARENT_SCOPE)
    else()
        set(${output} ${general} ${special} PARENT_SCOPE)
    endif()
endfunction()

# The objects of an instance: its component's sources and the tool's.
function(_camkes_add_instance instance)
    set(type "${CAMKES_INSTANCE_${instance}_TYPE}")
    set(target "${instance}.instance")
    foreach(keyword SOURCES C_FLAGS CXX_FLAGS LIBS)
        _camkes_component_property(${keyword} "${type}" "${instance}" ${keyword})
    endforeach()
    _camkes_component_property(INCLUDES "${type}" "${instance}" INCLUDES FIRST)
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${SOURCES} ${CAMKES_INSTANCE_${instance}_SOURCES})
    target_include_directories(
        ${target}
        PRIVATE ${INCLUDES} "${CAMKES_TOOL_DIR}/kernel/sel4/include"
                ${CAMKES_INSTANCE_${instance}_INCLUDES}
    )
    target_compile_options(
        ${target} PRIVATE "$<$<COMPILE_LANGUAGE:C>:${C_FLAGS}>" "$<$<COMPILE_LANGUAGE:CXX>:${CXX_FLAGS}>"
    )
    target_link_libraries(${target} PRIVATE ${CAMKES_CORE_LIBS} ${LIBS} ${CAMKES_INSTANCE_${instance}_LIBS})
    # What is generated is optimised in every build, as libraries are; the user's sources are as the build says.
    # Templates of hardware connectors call functions inside assert(), which a release build would leave out.
    set(glue ${CAMKES_INSTANCE_${instance}_SOURCES})
    set(rendered ${glue})
    list(FILTER glue INCLUDE REGEX "/glue\\.c$")
    list(FILTER rendered EXCLUDE REGEX "/glue\\.c$")
    set_source_files_properties(${glue} PROPERTIES COMPILE_OPTIONS "-O2;-fno-tree-vectorize;-fno-jump-tables")
    set_source_files_properties(${rendered} PROPERTIES COMPILE_OPTIONS "-O2;-UNDEBUG")
    add_dependencies(${target} CAmkESComponent_${type})
endfunction()

# One object of the objects of a target and `ARGN`, which are link options and archives.
function(_camkes_join object target)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    add_custom_command(
        OUTPUT "${object}"
        COMMAND
            ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -o "${object}" "$<TARGET_OBJECTS:${target}>" ${ARGN}
        DEPENDS "$<TARGET_OBJECTS:${target}>" ${target} muslc_imported
        COMMAND_EXPAND_LISTS VERBATIM
    )
endfunction()

# One object with a heap of so many bytes, and a copy of the C library's functions that hand it out.
set(CAMKES_HEAP_FUNCTIONS malloc free realloc aligned_alloc CACHE INTERNAL "")
function(_camkes_add_heap object heap size)
    add_library(${heap} OBJECT EXCLUDE_FROM_ALL "${CAMKES_TOOL_DIR}/kernel/sel4/heap/arena.c")
    target_compile_definitions(${heap} PRIVATE CAMKES_ARENA_SIZE=${size})
    target_link_libraries(${heap} PRIVATE muslc sel4_autoconf)
    list(TRANSFORM CAMKES_HEAP_FUNCTIONS PREPEND "-Wl,-u," OUTPUT_VARIABLE options)
    _camkes_join("${object}" ${heap} ${options} "$<TARGET_FILE:muslc_imported>")
endfunction()

# The object with names renamed and without those that no file of `ARGN` needs; `depends` are their targets.
# `options` name what is renamed, and the instances beside it.
function(_camkes_hide output tool object options depends)
    string(REGEX REPLACE "\\.o$" ".hidden.o" without "${object}")
    add_custom_command(
        OUTPUT "${without}"
        COMMAND ${tool} hide --objcopy "${CMAKE_OBJCOPY}" --nm "${CMAKE_NM}" -o "${without}"
            ${options} "${object}" ${ARGN}
        WORKING_DIRECTORY "${CAMKES_TOOL_DIR}"
        DEPENDS "${object}" ${depends}
        COMMAND_EXPAND_LISTS VERBATIM
    )
    set_source_files_properties("${without}" PROPERTIES EXTERNAL_OBJECT TRUE)
    set(${output} ${${output}} "${without}" PARENT_SCOPE)
endfunction()

# Instances of one address space can use the same names: each becomes one object that shows only what the
# others need. Each has a heap of its own: memory, and a copy of the C library's malloc() that hands it out.
function(_camkes_hide_names output space tool)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/joined")
    file(MAKE_DIRECTORY "${folder}")
    set(joined "")
    foreach(instance IN LISTS ARGN)
        _camkes_join("${folder}/${instance}.o" ${instance}.instance)
        list(APPEND joined "${folder}/${instance}.o")
    endforeach()
    list(TRANSFORM joined PREPEND "--instance=" OUTPUT_VARIABLE beside)
    set(others "$<TARGET_OBJECTS:${space}.space>" "$<TARGET_FILE:camkes_rt>")
    set(depends ${joined} "$<TARGET_OBJECTS:${space}.space>" ${space}.space camkes_rt)
    set(hidden "")
    set(index 0)
    foreach(instance size IN ZIP_LISTS ARGN CAMKES_SPACE_${space}_HEAPS)
        set(heap "${instance}.heap")
        _camkes_add_heap("${folder}/${heap}.o" ${heap} ${size})
        set(variables "")
        set(all "")
        foreach(name IN ITEMS morecore_area morecore_size)
            list(APPEND variables --rename "${name}=camkes_heap_${index}_${name}")
        endforeach()
        foreach(name IN LISTS CAMKES_HEAP_FUNCTIONS ITEMS camkes_arena)
            list(APPEND all --rename "${name}=camkes_heap_${index}_${name}")
        endforeach()
        _camkes_hide(hidden "${tool}" "${folder}/${heap}.o" "${variables};${all}" "")
        foreach(name IN LISTS CAMKES_INSTANCE_${instance}_SYMBOLS)
            if(name STREQUAL "dtb_symbol") # libsel4camkes looks for it
                list(APPEND variables --rename "${name}=${name}")
            else()
                list(APPEND variables --rename "${name}=${instance}.${name}")
            endif()
        endforeach()
        foreach(name IN LISTS CAMKES_SPACE_${space}_SYMBOLS) # the link of the image asks for these
            list(APPEND variables --rename "${name}=${name}")
        endforeach()
        _camkes_hide(hidden "${tool}" "${folder}/${instance}.o" "${variables};${beside}" "${depends}" ${others})
        math(EXPR index "${index} + 1")
    endforeach()
    set(${output} ${hidden} PARENT_SCOPE)
endfunction()

# The image of an address space.
function(_camkes_add_space space tool)
    set(target "${CAMKES_SPACE_${space}_IMAGE}")
    set(instances ${CAMKES_SPACE_${space}_INSTANCES})
    set(objects "")
    set(libraries "")
    set(flags "")
    set(language C)
    foreach(instance IN LISTS instances)
        set(type "${CAMKES_INSTANCE_${instance}_TYPE}")
        if(type STREQUAL "")
            continue()
        endif()
        _camkes_add_instance(${instance})
        list(APPEND objects "$<TARGET_OBJECTS:${instance}.instance>")
        _camkes_component_property(more "${type}" "${instance}" LIBS)
        list(APPEND libraries ${more} ${CAMKES_INSTANCE_${instance}_LIBS})
        _camkes_component_property(more "${type}" "${instance}" LD_FLAGS)
        list(APPEND flags ${more})
        _camkes_component_property(more "${type}" "${instance}" LINKER_LANGUAGE)
        if(more)
            list(GET more -1 language)
        endif()
    endforeach()
    add_library(${space}.space OBJECT EXCLUDE_FROM_ALL ${CAMKES_SPACE_${space}_SOURCES})
    target_include_directories(
        ${space}.space PRIVATE "${CAMKES_TOOL_DIR}/runtime/src/platform/sel4" "${CAMKES_TOOL_DIR}/kernel/sel4/timer"
                               "${CAMKES_TOOL_DIR}/kernel/sel4/heap"
    )
    target_link_libraries(${space}.space PRIVATE ${CAMKES_CORE_LIBS})
    list(LENGTH objects count)
    if(count GREATER 1)
        _camkes_hide_names(objects ${space} "${tool}" ${instances})
    endif()
    add_executable(${target} EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${space}.space> ${objects})
    target_link_libraries(${target} PRIVATE ${CAMKES_CORE_LIBS} ${libraries})
    # Memory that frames are mapped behind is found by its symbol, whether or not any code refers to it: the linker
    # must neither leave it in an archive nor remove it as unused (--gc-sections).
    list(TRANSFORM CAMKES_SPACE_${space}_SYMBOLS PREPEND "-Wl,-u," OUTPUT_VARIABLE symbols)
    target_link_options(
        ${target}
        PRIVATE
        -static
        -nostdlib
        -Wl,-u,_camkes_start
        -Wl,-e,_camkes_start
        ${symbols}
        "-Wl,-T,${CAMKES_UPSTREAM_DIR}/libsel4camkes/src/tls.lds"
        "-Wl,-T,${CAMKES_TOOL_DIR}/kernel/sel4/aligned.lds"
        ${flags}
    )
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language})
endfunction()

# The memory that the kernel's boot leaves, as capDL's script computes it from the kernel's image.
function(_camkes_list_memory output)
    set(script "${PYTHON_CAPDL_PATH}/../cdl_utils/untyped_gen.py")
    # KernelDTBSize is not there when CMake runs afresh and the tree is there already
    file(SIZE "${KernelDTBPath}" tree_size)
    set(sizes "$<TARGET_PROPERTY:object_sizes,FILE_PATH>")
    add_custom_command(
        OUTPUT "${output}"
        COMMAND
            ${CMAKE_COMMAND} -E env "PYTHONPATH=${PYTHON_CAPDL_PATH}" ${PYTHON3} "${script}"
            "--input=${platform_yaml}" "--output=${output}" "--object-sizes=${sizes}"
            --architecture ${KernelSel4Arch} --dtb-size ${tree_size} --kernel-elf "$<TARGET_FILE:kernel.elf>"
        DEPENDS "${script}" "${platform_yaml}" object_sizes "${sizes}" kernel.elf
        COMMENT "Memory that the kernel leaves"
        VERBATIM
    )
endfunction()

# The program parse-capDL: that of the option, else one on PATH or in tools/bin of the workspace, else it is built
# with Haskell's stack by a target.
function(_camkes_find_parse_capdl output)
    string(TOUPPER "${CAmkESParseCapDL}" given)
    if(given AND NOT given MATCHES "^(1|ON|YES|TRUE|Y)$")
        if(NOT EXISTS "${CAmkESParseCapDL}")
            message(FATAL_ERROR "CAmkESParseCapDL is OFF, ON or a program, and there is no ${CAmkESParseCapDL}")
        endif()
        set(CAMKES_PARSE_CAPDL_PROGRAM "${CAmkESParseCapDL}" CACHE INTERNAL "")
    endif()
    find_program(
        CAMKES_PARSE_CAPDL_PROGRAM parse-capDL
        HINTS "${CAMKES_UPSTREAM_DIR}/../bin"
        DOC "parse-capDL, where it is built already"
    )
    find_program(CAMKES_STACK stack)
    mark_as_advanced(CAMKES_PARSE_CAPDL_PROGRAM CAMKES_STACK)
    if(CAMKES_PARSE_CAPDL_PROGRAM)
        set(program "${CAMKES_PARSE_CAPDL_PROGRAM}")
        add_custom_target(camkes_parse_capdl)
    elseif(CAMKES_STACK)
        CapDLToolInstall(camkes_parse_capdl program)
    else()
        message(
            FATAL_ERROR
                "CAmkESParseCapDL and CAmkESCapDLVerification need parse-capDL: there is none on PATH and in tools/bin\n"
                "of the workspace, and no stack to build it. `repo-init.sh -p` builds it with ghc;\n"
                "-DCAmkESParseCapDL=FILE names one."
        )
    endif()
    set(${output} "${program}" PARENT_SCOPE)
endfunction()

# Theories for proofs about the system: that of the specification by capDL-tool, the others by the tool.
function(_camkes_add_theories folder cdl parse_capdl tool)
    get_filename_component(name "${cdl}" NAME_WE)
    string(MAKE_C_IDENTIFIER "${name}" name)
    set(theories "${folder}/cdl-refine")
    file(MAKE_DIRECTORY "${theories}")
    set(sizes "$<TARGET_PROPERTY:object_sizes,FILE_PATH>")
    set(templates "${CAMKES_UPSTREAM_DIR}/camkes/templates")
    set(files "")
    foreach(file IN ITEMS ROOT ${name}_Arch_Spec.thy ${name}_CDL_Refine.thy)
        list(APPEND files "${theories}/${file}")
    endforeach()
    add_custom_command(
        OUTPUT "${theories}/${name}_CDL.thy"
        COMMAND "${parse_capdl}" --isabelle "${theories}/${name}_CDL.thy" --object-sizes "${sizes}" "${cdl}"
        DEPENDS "${cdl}" camkes_capdl_target camkes_parse_capdl object_sizes "${sizes}"
        COMMENT "Theory of the capability distribution"
        VERBATIM
    )
    add_custom_command(
        OUTPUT ${files}
        COMMAND ${tool} theories --templates "${templates}" --labels "${folder}/camkes-labels.json"
            --output "${theories}" "${folder}/camkes-project.json"
        WORKING_DIRECTORY "${CAMKES_TOOL_DIR}"
        DEPENDS "${folder}/camkes-labels.json" camkes_capdl_target
        COMMENT "Theories of the system"
        VERBATIM
    )
    add_custom_target(camkes_theories DEPENDS ${files} "${theories}/${name}_CDL.thy")
    add_dependencies(capdl-loader camkes_theories)
endfunction()

# --- the system ------------------------------------------------------------------------------------------

# Called when all list files have been read. An application may call it, and then its project again.
function(GenerateCAmkESRootserver)
    get_property(done GLOBAL PROPERTY CAMKES_GEN_DONE)
    if(done)
        return()
    endif()
    get_property(adl GLOBAL PROPERTY CAMKES_ROOT_ADL)
    if(NOT adl)
        message(FATAL_ERROR "no system was declared: call DeclareCAmkESRootserver() first")
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}")
    set(python "${CAmkESPython}")
    if(NOT python)
        set(python "${PYTHON3}")
    endif()
    set(tool ${python} -m camkes.cli.sel4)
    # needs only this folder, so it must not search for packages
    set(link ${python} -c "from camkes.backends.sel4.link import main$<SEMICOLON> main()")

    _camkes_write_project("${folder}/camkes-project.json" "${folder}")
    execute_process(
        COMMAND ${tool} generate "${folder}/camkes-project.json"
        WORKING_DIRECTORY "${CAMKES_TOOL_DIR}"
        RESULT_VARIABLE failed
    )
    file(GLOB_RECURSE tool_files "${CAMKES_TOOL_DIR}/camkes/*.py" "${CAMKES_TOOL_DIR}/templates/*")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${adl}" ${tool_files})
    if(failed)
        message(FATAL_ERROR "${adl} has errors (see above)")
    endif()
    set_property(GLOBAL PROPERTY CAMKES_GEN_DONE TRUE)
    include("${folder}/camkes-gen.cmake")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CAMKES_INPUTS})
    if(CAMKES_CODE)
        # A changed source is read before ninja checks whether CMake must run again.
        add_custom_command(
            OUTPUT "${folder}/camkes-calls.json"
            COMMAND ${tool} calls "${folder}/camkes-project.json"
            WORKING_DIRECTORY "${CAMKES_TOOL_DIR}"
            DEPENDS ${CAMKES_CODE}
            COMMENT "What handlers call"
            VERBATIM
        )
        add_custom_target(camkes_calls DEPENDS "${folder}/camkes-calls.json")
        set_property(
            DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${folder}/camkes-calls.json"
        )
    endif()
    if(CAMKES_CLOCK_STOPPED)
        target_compile_definitions(camkes_rt PRIVATE CAMKES_CLOCK_STOPPED)
    endif()
    if(CAMKES_TIMEBASE)
        target_compile_definitions(camkes_rt PRIVATE CAMKES_TIMEBASE=${CAMKES_TIMEBASE})
    endif()

    set(images "")
    set(named "")
    set(files "")
    foreach(space IN LISTS CAMKES_SPACES)
        _camkes_add_space(${space} "${tool}")
        set(image "${CAMKES_SPACE_${space}_IMAGE}")
        list(APPEND images ${image})
        list(APPEND named "${space}=$<TARGET_FILE:${image}>")
        list(APPEND files "${folder}/${image}")
    endforeach()

    set(labels "")
    set(label_file "-")
    if(CAmkESCapDLVerification)
        set(labels "${folder}/camkes-labels.json")
        set(label_file "${labels}")
    endif()
    set(sizes "$<TARGET_PROPERTY:object_sizes,FILE_PATH>")
    if(CAmkESCapDLStaticAlloc)
        _camkes_list_memory("${folder}/untyped.yaml")
        set(link ${python} -c "from camkes.backends.sel4.allocated_link import main$<SEMICOLON> main()"
                 "${folder}/untyped.yaml" "${label_file}"
        )
        list(APPEND files "${folder}/untyped.yaml")
    endif()
    get_filename_component(system "${adl}" NAME_WE)
    set(cdl "${folder}/${system}.cdl")
    set(tables "${folder}/capdl_spec.c")
    add_custom_command(
        OUTPUT "${cdl}" "${tables}" ${labels}
        COMMAND ${link} "${folder}/camkes-spec.msgpack" "${cdl}" "${tables}" "${CapDLLoaderMaxObjects}" "${sizes}"
                ${named}
        WORKING_DIRECTORY "${CAMKES_TOOL_DIR}"
        DEPENDS "${folder}/camkes-spec.msgpack" ${images} ${files} object_sizes "${sizes}"
        COMMENT "Capability distribution ${system}.cdl"
        VERBATIM
    )
    add_custom_target(camkes_capdl_target DEPENDS "${cdl}" "${tables}")

    if(CAmkESParseCapDL OR CAmkESCapDLVerification)
        _camkes_find_parse_capdl(parse_capdl)
    endif()
    set(source camkes_capdl_target)
    if(CAmkESParseCapDL)
        set(tables parse-capDL.c)
        set(source camkes_capdl_source)
        CapDLToolCFileGen(
            ${source}
            ${tables}
            "${CAmkESCapDLStaticAlloc}"
            "${sizes}"
            "${cdl}"
            "${parse_capdl}"
            DEPENDS
            camkes_capdl_target
            camkes_parse_capdl
            "${parse_capdl}"
        )
    endif()
    set(elfs "")
    foreach(image IN LISTS images)
        list(APPEND elfs ELF "${folder}/${image}")
    endforeach()
    BuildCapDLApplication(
        C_SPEC
        "${tables}"
        ${elfs}
        DEPENDS
        ${source}
        ${images}
        OUTPUT
        capdl-loader
    )
    if(CAmkESCapDLVerification)
        _camkes_add_theories("${folder}" "${cdl}" "${parse_capdl}" "${tool}")
    endif()
    include(rootserver)
    DeclareRootserver(capdl-loader)
endfunction()
