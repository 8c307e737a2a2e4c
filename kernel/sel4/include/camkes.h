/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* On seL4, components find what their libraries offer behind the header that the tool generates. */
#pragma once

#include <assert.h>
#include <platsupport/io.h>
#include <platsupport/irq.h>
#include <sel4/sel4.h>
#include <stdint.h>
#include <stdlib.h>
#include <utils/page.h>
#include <utils/util.h>

#include_next <camkes.h>
