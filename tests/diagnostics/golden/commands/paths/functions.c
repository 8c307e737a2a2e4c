/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
volatile unsigned samples[16];
volatile unsigned count;
unsigned (*volatile chosen)(void);

unsigned sum(void)
{
    unsigned result = 0;
    while (samples[0] != count) {
        result += samples[1];
    }
    return result;
}

unsigned named(void)
{
    unsigned result = 1;
    while (samples[2] != count) { /* at most pumps times: one each */
        result += samples[3];
    }
    return result;
}

unsigned worded(void)
{
    unsigned result = 2;
    while (samples[4] != count) { /* at most a few times: it ends soon */
        result += samples[5];
    }
    return result;
}

unsigned through(void)
{
    return chosen() + 1;
}

unsigned missing(void)
{
    return chosen() + 2; /* calls nothing_here: that is set */
}

int main(void)
{
    return (int)(sum() + named() + worded() + through() + missing());
}
