/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* In a guest: gives its partner a word and prints the answer. Needs no module: the regions of a PCI
 * device are files. */
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, EMIT = 0, EMITTED = 1, TRIES = 1000 };

static char folder[200];

static unsigned number_in(const char *name)
{
    char path[256];
    unsigned value = 0;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%x", &value) != 1) {
            value = 0;
        }
        fclose(file);
    }
    return value;
}

static volatile void *region(const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int file = open(path, O_RDWR | O_SYNC);
    void *const at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* whether `folder` is that of the partner */
static int find(void)
{
    glob_t devices;
    glob("/sys/bus/pci/devices/*", 0, NULL, &devices);
    for (size_t i = 0; i < devices.gl_pathc; i++) {
        snprintf(folder, sizeof(folder), "%s", devices.gl_pathv[i]);
        if (number_in("vendor") == 0x1af4 && number_in("device") == 0xa111) {
            return 1;
        }
    }
    return 0;
}

int main(int count, char **words)
{
    volatile uint32_t *events;
    volatile char *text;
    if (count != 2 || !find() || (events = region("resource0")) == NULL ||
        (text = region("resource1")) == NULL) {
        fprintf(stderr, "usage: ask WORD, in a guest with a partner\n");
        return 1;
    }
    const size_t length = strlen(words[1]);
    for (size_t i = 0; i <= length; i++) {
        text[i] = words[1][i];
    }
    events[EMIT] = 1;
    for (int i = 0; i < TRIES && events[EMITTED] == 0; i++) {
        usleep(10000);
    }
    printf("events: %u, answer: ", (unsigned)events[EMITTED]);
    events[EMITTED] = 0;
    for (size_t i = 0; i < length; i++) {
        putchar(text[i]);
    }
    putchar('\n');
    return 0;
}
