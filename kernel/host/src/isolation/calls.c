/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The names of the workstation's system calls; calls.h is made from its headers (../Makefile). */
#include "isolation/processes.h"

#include <sys/syscall.h>

static const char *const NAMES[] = {
#include "calls.h"
};

/* "another ABI's" for a number that is not of this one. */
const char *call_name(uint64_t number)
{
    bool known = number < sizeof NAMES / sizeof *NAMES && NAMES[number];
    return known ? NAMES[number] : "another ABI's";
}
