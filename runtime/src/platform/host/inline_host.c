/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The functions of headers that code for the host kernel calls where they are not inlined. */
#define CAMKES_INLINE

#include <camkes/message.h>
#include <camkes/platform.h>
#include <camkes/request.h>
#include <camkes/semaphore.h>
#include <camkes/serve.h>
