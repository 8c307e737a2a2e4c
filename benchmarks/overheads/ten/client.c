/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

int run(void)
{
    printf("%s: %d\n", get_instance_name(), own_add(1, common_add(2, 3)));
    return 0;
}
