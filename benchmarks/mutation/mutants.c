/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Maps the file that mutants.h is about: a part of the host kernel, and included first in unit
 * tests. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include <camkes/mutants.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* seconds of the processor, after which a program hangs: of a unit test, or of a system */
#if defined(__SANITIZE_ADDRESS__)
#define MUTANTS_SECONDS 1
#else
#define MUTANTS_SECONDS 3
#endif

__attribute__((constructor)) static void map_mutants(void)
{
    const char *name = getenv("CAMKES_MUTANTS");
    const int file = name != NULL ? open(name, O_RDWR) : -1;
    if (file < 0 || mmap((void *)MUTANTS_ADDRESS, MUTANTS_SIZE, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0) == MAP_FAILED) {
        abort();
    }
    close(file);
    setrlimit(RLIMIT_CPU, &(struct rlimit){MUTANTS_SECONDS, MUTANTS_SECONDS});
}
