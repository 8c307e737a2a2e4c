/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The procedure of the applications: its calls, counted in `good`, and its handlers. */
#include <stdlib.h>
#include <string.h>

#define CALLS(interface)                                                                           \
    do {                                                                                           \
        char *both = NULL;                                                                         \
        good += interface##_add(20, 22) == 42;                                                     \
        interface##_join("to", "gether", &both);                                                   \
        good += both != NULL && strcmp(both, "together") == 0;                                     \
        free(both);                                                                                \
    } while (0)

#define SERVES(interface)                                                                          \
    int interface##_add(int a, int b)                                                              \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    void interface##_join(const char *a, const char *b, char **both)                               \
    {                                                                                              \
        *both = malloc(strlen(a) + strlen(b) + 1);                                                 \
        strcpy(*both, a);                                                                          \
        strcat(*both, b);                                                                          \
    }
