/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>

char *voice_greet(const char *whom)
{
    char *text = malloc(80);
    snprintf(text, 80, "%s, %s", word, whom);
    return text;
}
