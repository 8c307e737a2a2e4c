/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <string.h>

int run(void)
{
    volatile char *shared = (volatile char *)words;
    char text[64];
    for (;;) {
        asked_wait();
        size_t length = 0;
        while (length + 1 < sizeof(text) && shared[length] != '\0') {
            text[length] = shared[length];
            length++;
        }
        text[length] = '\0';
        printf("%s: asked \"%s\"\n", get_instance_name(), text);
        for (size_t i = 0; i < length; i++) {
            shared[i] = text[length - 1 - i];
        }
        answered_emit_underlying();
    }
    return 0;
}
