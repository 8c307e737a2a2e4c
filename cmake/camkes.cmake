# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
#
# Included once by the build environment: declarations, generation, the components that come along.

include_guard(GLOBAL)

include("${KERNEL_HELPERS_PATH}")
include("${PLATSUPPORT_HELPERS}")
include(dts)
include("${CMAKE_CURRENT_LIST_DIR}/options.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/declare.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/generate.cmake")

# Devices, timers and serial ports of the supported boards.
include("${CAMKES_UPSTREAM_DIR}/components/components.cmake")

# Its connectors, which are rendered from its templates.
include("${CAMKES_UPSTREAM_DIR}/camkes/templates/templates.cmake")
