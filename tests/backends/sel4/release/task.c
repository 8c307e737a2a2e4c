/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    char line[80];
    snprintf(line, sizeof(line), "%s: %d", get_instance_name(), s_put(20));
    text_say(line);
    return 0;
}
