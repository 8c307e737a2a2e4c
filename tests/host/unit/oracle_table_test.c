/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-12 */
/* Each field of the table of a search is read, and an invalid table is refused. */
#include "isolation/memory.h"
#include "oracle/oracle.h"
#include "record/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static const struct oracle_system *s = &oracle_system;

static void read_fields(void)
{
    read_table("mcs\n"
               "cpi lock 0 store 30 locks,contended\n"
               "\n"
               "cpi top 0 top 255 own-priority,pooled,suspends,helps,binds\n"
               "cpi plain 2 plain 9 -\n"
               "cpi other 0 store 8 helps\n"
               "context low 10\n"
               "context high 30\n"
               "raised 1 2 40\n"
               "task t 7 1 12 44 5 1000 900\n"
               "task e 8 0 13 - 0 0 0\n"
               "helper 3 1\n"
               "turn 1 3 99 deadlines\n"
               "turn 0 3 98 -\n"
               "limit 7 2 3000\n"
               "limit 8 - -\n"
               "object endpoint\n"
               "object t:sc\n"
               "thread of_t control 10 - 1 7\n"
               "thread works worker 20 1 - -\n"
               "thread manages  manager 30 0 - -\n");
    need(said[0] == 0 && s->mcs, "it is a table");
    need(s->cpi_count == 4 && s->context_count == 2 && s->task_count == 2 && s->helper_count == 1 &&
             s->thread_count == 3 && s->object_count == 2 && s->turn_count == 2 &&
             s->raised_count == 1 && s->limit_count == 2,
         "one of each line");
}

static void of_cpis(void)
{
    const struct oracle_cpi *lock = &s->cpis[0], *top = &s->cpis[1], *plain = &s->cpis[2];
    need(strcmp(lock->name, "lock") == 0 && strcmp(top->name, "top") == 0, "names of CPIs");
    need(strcmp(lock->lock_name, "store") == 0, "the name of a lock");
    need(lock->locks && lock->contended && !lock->own_priority && !lock->pooled, "a lock");
    need(!lock->suspends && !lock->binds, "without a policy");
    need(lock->helps && !plain->helps, "a lock that others share, one of which helps");
    need(!top->locks && !top->contended && top->own_priority && top->pooled, "a fixed CPI");
    need(top->suspends && top->helps && top->binds, "with a policy");
    need(!plain->locks && !plain->own_priority && !plain->binds, "a CPI without any word");
    need(lock->ceiling == 30 && top->ceiling == 255, "ceilings");
    need(lock->lock == 0 && plain->lock == 2, "locks");
}

static void of_contexts_and_tasks(void)
{
    const struct oracle_context *low = &s->contexts[0], *high = &s->contexts[1];
    need(strcmp(high->name, "high") == 0 && high->base == 30, "a context");
    need(high->helps && !low->helps, "that helps");
    need(high->control == 0 && low->control == NONE, "and is of a thread");
    need(s->raised[0].context == 1 && s->raised[0].level == 2 && s->raised[0].base == 40,
         "what is raised");
    const struct oracle_task *task = &s->tasks[0];
    need(strcmp(task->name, "t") == 0 && task->id == 7 && task->context == 1 &&
             task->priority == 12 && task->timer == 44,
         "a task");
    need(task->offset == 5 && task->period == 1000 && task->deadline == 900, "its times");
    need(s->tasks[1].timer == NONE, "one without a timer");
    need(s->helpers[0].condition == 3 && s->helpers[0].context == 1, "a helper");
}

static void of_others(void)
{
    const struct oracle_turn *turns = s->turns;
    need(turns[0].context == 1 && turns[0].band == 3 && turns[0].highest == 99 && turns[0].ordered,
         "a task of a band");
    need(!turns[1].ordered, "another order");
    const struct oracle_limit *first = &s->limits[0], *second = &s->limits[1];
    need(first->task == 7 && first->tasks == 2 && first->time == 3000, "a limit");
    need(second->task == 8 && second->tasks == NONE && second->time == UINT64_MAX, "no limit");
    need(strcmp(s->objects[1], "t:sc") == 0, "an object");
    const struct oracle_thread *t = s->threads;
    need(strcmp(t[0].name, "of_t") == 0 && t[0].role == ORACLE_CONTROL && t[0].cpi == NONE &&
             t[0].context == 1 && t[0].task == 7,
         "a control thread");
    need(t[1].role == ORACLE_WORKER && t[1].cpi == 1 && t[1].context == NONE && t[1].task == NONE,
         "a worker");
    need(t[2].role == ORACLE_MANAGER && t[0].base == 10 && t[2].base == 30, "a manager");
    read_table("thread a interface 1 - - -\nthread b other 1 - - -\n");
    need(s->threads[0].role == ORACLE_INTERFACE && s->threads[1].role == ORACLE_OTHER, "others");
}

int main(void)
{
    read_fields();
    of_cpis();
    of_contexts_and_tasks();
    of_others();
    refuses("thread a boss 1 - - -\n", "`boss` is not what");
    refuses("thread a other 1 - -\n", "`thread` is not what");
    refuses("thread a worker 1 0 - -\n", "`a` is not what");
    refuses("thread a worker 1 - 0 -\n", "`a context` is not what");
    refuses("cpi lock 0 lock 30\n", "`cpi` is not what");
    refuses("cpi lock 0 lock 30 helpful\n", "`helpful` is not what");
    refuses("cpi lock 1 other 30 -\n", "`other` is not what");
    refuses("context low\n", "`context` is not what");
    refuses("task t 7 0 12 5 1000\n", "`task` is not what");
    refuses("task t 7 0 12 - 5 1000 900\n", "`a context` is not what");
    refuses("turn 0 1 9 -\n", "`a context` is not what");
    refuses("raised 0 1 9\n", "`a context` is not what");
    refuses("helper 3 0\n", "`a context` is not what");
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
