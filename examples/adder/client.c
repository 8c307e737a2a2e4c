/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>
#include <stdlib.h>

int run(void)
{
    printf("client: 2 + 40 = %d\n", calc_add(2, 40));

    const int values[] = {1, 2, 3, 4};
    int sum = 0;
    int total = 100;
    calc_accumulate(4, values, &sum, &total);
    printf("client: the sum is %d, the total %d\n", sum, total);

    char *text = calc_describe("answer", sum);
    printf("client: %s\n", text);
    free(text);
    return 0;
}
