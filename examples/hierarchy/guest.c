/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>

int run(void)
{
    char *text = greet_greet(get_instance_name());
    printf("%s hears: %s\n", get_instance_name(), text);
    free(text);
    return 0;
}
