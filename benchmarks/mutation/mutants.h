/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What sources with mutants in them are written with (c_mutants.py). All are compiled at once; the
 * number at the beginning of a file selects the one that is active. The file is mapped at an
 * address where nothing else is, by a program of a unit test or by the host kernel, whose
 * components inherit it: they may not open files. Each mutant notes there that it was reached in a
 * state in which something differs.
 */
#pragma once

/* Sources with mutants need not be free of warnings. */
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Waddress"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wignored-qualifiers"
#pragma GCC diagnostic ignored "-Wextra"

#define MUTANTS_ADDRESS 0x6f0000000000ul
#define MUTANTS_NAME                                                                               \
    "camkes-search-mutants" /* a search leaves files of such names out of its states */
#define MUTANTS_NOTES 8192
#define MUTANTS_SIZE (MUTANTS_NOTES + (1 << 16))

/* Makers of mutants are left as they are, to list the numbers in what a preprocessor has read. */
#if !defined(MUTANTS_LIST)
#define MUTANT_NOTED(number)                                                                       \
    (*(volatile unsigned char *)(MUTANTS_ADDRESS + MUTANTS_NOTES + (number)) = 1)
#define MUTANT(number) (MUTANT_NOTED(number), *(volatile unsigned *)MUTANTS_ADDRESS == (number))
/* The same, if something differs. */
#define MUTANT_WHERE(number, differs) ((differs) && MUTANT(number))
/* A condition that is always true, or false. */
#define MUTANT_TRUE(number, condition) ((condition) || MUTANT(number))
#define MUTANT_FALSE(number, condition) ((condition) && !MUTANT(number))
#define MUTANT_GUARD(number, condition) ((condition) ? !MUTANT((number) + 1) : MUTANT(number))
/* Nothing, of any type. */
#define MUTANT_ZERO(expression) (*(__typeof__(expression) *)(MUTANTS_ADDRESS + 4096))
#endif
