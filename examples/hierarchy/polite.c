/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>

char *voice_greet(const char *whom)
{
    char *plain = next_greet(whom);
    char *text = malloc(96);
    snprintf(text, 96, "%s%s", plain, suffix);
    free(plain);
    return text;
}
