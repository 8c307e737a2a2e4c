/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Handlers that do as little as they can. */
#include <camkes.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 8

void p_nothing(void)
{
}

void p_in4(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    (void)a, (void)b, (void)c, (void)d;
}

void p_in5(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    (void)a, (void)b, (void)c, (void)d, (void)e;
}

void p_in8(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
           uint64_t h)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
}

uint64_t p_out4(uint64_t *a, uint64_t *b, uint64_t *c)
{
    *a = *b = *c = 1;
    return 4;
}

uint64_t p_out8(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t *e, uint64_t *f,
                uint64_t *g)
{
    *a = *b = *c = *d = *e = *f = *g = 1;
    return 8;
}

void p_point_in(point_t p)
{
    (void)p;
}

point_t p_point_out(void)
{
    return (point_t){.sequence = 1};
}

void p_point_inout(point_t *p)
{
    p->sequence++;
}

void p_string_in(const char *text)
{
    (void)text;
}

char *p_string_out(void)
{
    static const char text[] = "0123456789abcdef";
    char *const copy = malloc(sizeof text);
    if (copy != NULL) {
        memcpy(copy, text, sizeof text);
    }
    return copy;
}

void p_array_in(size_t values_sz, const int *values)
{
    (void)values_sz, (void)values;
}

void p_array_out(size_t *values_sz, int **values)
{
    *values = calloc(COUNT, sizeof **values);
    *values_sz = *values != NULL ? COUNT : 0;
}

void p_array_inout(size_t *values_sz, int **values)
{
    if (*values_sz > 0) {
        (*values)[0]++;
    }
}

void p_strings_in(size_t texts_sz, char **texts)
{
    (void)texts_sz, (void)texts;
}
