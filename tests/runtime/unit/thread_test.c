/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-34 */
/* The names and numbers of threads. */
#include <camkes/thread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct camkes_thread first = {.name = "first"}, second = {.name = "second"},
                            last = {.name = "last"}, none = {.name = "none"};
/* the last one is not in the table */
struct camkes_thread *const camkes_threads[] = {&first, &second, &last, &none};
const unsigned camkes_thread_count = 3;

const char *get_thread_name(int thread_id);

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

int main(void)
{
    static const char no[] = "no thread of this address space";
    need(camkes_thread_index(&first) == 0 && camkes_thread_index(&last) == 2, "indexes");
    need(strcmp(get_thread_name(1), "first") == 0, "the first");
    need(strcmp(get_thread_name(2), "second") == 0, "the second");
    need(strcmp(get_thread_name(3), "last") == 0, "the last");
    need(strcmp(get_thread_name(4), no) == 0 && strcmp(get_thread_name(0), no) == 0 &&
             strcmp(get_thread_name(-1), no) == 0,
         "no thread");
    printf("good\n");
    return 0;
}
