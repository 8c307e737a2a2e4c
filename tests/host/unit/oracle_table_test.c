/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Each field of the table of a search is read, and an invalid table is refused. */
#include "isolation/memory.h"
#include "record/output.h"
#include "search/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct kernel state;
struct kernel *kernel = &state;
static struct thread threads[3] = {{.priority = 10}, {.priority = 20}, {.priority = 30}};
static _Alignas(16) char block[1 << 16];
static size_t taken;
static char said[256];
static jmp_buf refused;

void *memory_take(size_t size)
{
    void *start = block + taken;
    taken += (size + 15) / 16 * 16;
    memset(start, 0, size);
    return start;
}

char *memory_text(const char *text, size_t length)
{
    char *copy = memory_take(length + 1);
    memcpy(copy, text, length);
    return copy;
}

void give_up(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = snprintf(said, sizeof said, "%d: ", status);
    vsnprintf(said + length, sizeof said - (size_t)length, format, args);
    va_end(args);
    longjmp(refused, 1);
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static void read_table(const char *text)
{
    char path[] = "/tmp/oracle-table-XXXXXX";
    const int file = mkstemp(path);
    need(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text), "a table");
    close(file);
    taken = 0;
    said[0] = 0;
    oracle_system = (struct oracle_system){0};
    state.threads = threads;
    state.thread_count = 3;
    if (setjmp(refused) == 0) {
        oracle_read(path);
    }
    unlink(path);
}

static void refuses(const char *text, const char *end)
{
    read_table(text);
    need(strncmp(said, "2: ", 3) == 0 && strstr(said, end) != NULL, text);
}

static void fields(void)
{
    read_table("cpi lock 1 0 30 0 1 0\n"
               "\n"
               "cpi top 0 1 255 1 0 3\n"
               "context low 10\n"
               "context high 30\n"
               "task t 7 12 5 1000 900\n"
               "helper 3 1\n"
               "helper 4 0\n"
               "limit 7 2 3000\n"
               "limit 8 - -\n"
               "thread control - 1 7\n"
               "thread worker 1 - -\n"
               "thread manager  0 - -\n");
    const struct oracle_system *s = &oracle_system;
    need(said[0] == 0, "it is a table");
    need(s->cpi_count == 2 && s->context_count == 2 && s->task_count == 1 && s->helper_count == 2,
         "one of each line");
    const struct oracle_cpi *lock = &s->cpis[0], *top = &s->cpis[1];
    need(strcmp(lock->name, "lock") == 0 && strcmp(top->name, "top") == 0, "names of CPIs");
    need(lock->locks && !lock->own_priority && !lock->pooled && lock->contended, "a lock");
    need(!top->locks && top->own_priority && top->pooled && !top->contended, "a fixed CPI");
    need(lock->ceiling == 30 && top->ceiling == 255, "ceilings");
    need(lock->lock == 0 && top->lock == 3, "locks");
    need(strcmp(s->contexts[1].name, "high") == 0 && s->contexts[1].base == 30, "a context");
    const struct oracle_task *task = &s->tasks[0];
    need(strcmp(task->name, "t") == 0 && task->id == 7 && task->priority == 12, "a task");
    need(task->offset == 5 && task->period == 1000 && task->deadline == 900, "its times");
    need(s->helpers[0].condition == 3 && s->helpers[0].context == 1, "a helper");
    need(s->helpers[1].condition == 4 && s->helpers[1].context == 0, "another one");
    const struct oracle_limit *first = &s->limits[0], *second = &s->limits[1];
    need(s->limit_count == 2 && first->task == 7 && first->tasks == 2 && first->time == 3000,
         "a limit");
    need(second->task == 8 && second->tasks == NONE && second->time == UINT64_MAX, "no limit");
    const struct oracle_thread *t = s->threads;
    need(t[0].role == ORACLE_CONTROL && t[0].cpi == NONE && t[0].context == 1 && t[0].task == 7,
         "a control thread");
    need(t[1].role == ORACLE_WORKER && t[1].cpi == 1 && t[1].context == NONE && t[1].task == NONE,
         "a worker");
    need(t[2].role == ORACLE_MANAGER && t[0].base == 10 && t[2].base == 30, "a manager");
    read_table("thread interface - - -\nthread other - - -\nthread other - - -\n");
    need(s->threads[0].role == ORACLE_INTERFACE && s->threads[1].role == ORACLE_OTHER, "others");
}

int main(void)
{
    fields();
    refuses("thread other - - -\nthread other - - -\n", "`thread` is not what");
    refuses("thread other - - -\nthread other - - -\nthread other - - -\nthread other - - -\n",
            "`thread` is not what");
    refuses("thread boss - - -\n", "`boss` is not what");
    refuses("thread other - -\n", "`thread` is not what");
    refuses("cpi lock 1 0 30 0 1\n", "`cpi` is not what");
    refuses("context low\n", "`context` is not what");
    refuses("task t 7 12 5 1000\n", "`task` is not what");
    refuses("limit 7 2\n", "`limit` is not what");
    refuses("helper 3\n", "`helper` is not what");
    refuses("other 3\n", "`other` is not what");
    if (setjmp(refused) == 0) {
        oracle_read("/dev/null/none");
    }
    need(strcmp(said, "2: cannot read /dev/null/none: Not a directory") == 0, "no table");
    printf("good\n");
    return 0;
}
