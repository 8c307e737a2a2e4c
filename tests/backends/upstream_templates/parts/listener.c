/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

#define TEXT(word) TEXT_OF(word)
#define TEXT_OF(word) #word

void callback_callback(seL4_Word badge);
void callback_callback(seL4_Word badge)
{
    printf(TEXT(APPLICATION) ": called back %d\n", badge != 0);
}
