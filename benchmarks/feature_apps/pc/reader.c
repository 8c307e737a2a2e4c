/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdio.h>

void letters_putchar(int c)
{
    putchar(c);
}

int run(void)
{
    const rtc_time_date_t now = clock_time_date();
    printf("the year is %d\n", (int)now.year);
    printf("first device %x\n", (unsigned)bus_read16(0, 0, 0, 0));
    return 0;
}
