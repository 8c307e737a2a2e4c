/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What comes from outside of the system, and where to what leaves it. All of it is read before
 * anything runs, so that a run is the same every time. */
#include "boot/boot.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static void read_into(struct input *input, const char *path)
{
    FILE *file = fopen(path, "r");
    char piece[4096];
    size_t n;
    if (!file) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    while ((n = fread(piece, 1, sizeof piece, file)) > 0) {
        char *place = memory_take(n); /* one piece after the other */
        memcpy(place, piece, n);
        input->text = input->text ? input->text : place;
        input->length += n;
    }
    if (ferror(file)) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    fclose(file);
}

void input_initialise(void)
{
    kernel->network_file = -1;
    if (kernel->options.sent) {
        const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC;
        kernel->network_file = open(kernel->options.sent, flags, 0666);
        if (kernel->network_file < 0) {
            give_up(2, "cannot write %s: %s", kernel->options.sent, strerror(errno));
        }
    }
    for (unsigned i = 0; i < CAMKES_INPUTS; i++) {
        if (kernel->options.inputs[i]) {
            read_into(&kernel->inputs[i], kernel->options.inputs[i]);
        }
    }
}
