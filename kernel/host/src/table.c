/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Reads the boot table, whose format ../README.md describes, into the kernel's memory. */
#include "boot.h"
#include "memory.h"
#include "output.h"
#include "scheduling.h"
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIELDS = 12, SLOTS = 256 };

struct line {
    unsigned number;
    unsigned count;
    char *fields[FIELDS];
};

static const char *table_path;
static struct line *lines;
static unsigned line_count;

static _Noreturn void bad(const struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static _Noreturn void bad(const struct line *line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    give_up(2, "%s:%u: %s", table_path, line->number, text);
}

/* ---- lines and fields ---- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t size = 0, capacity = 4096, n;
    char *text = malloc(capacity);
    if (!file || !text) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    while ((n = fread(text + size, 1, capacity - size - 1, file)) > 0) {
        size += n;
        if (size + 1 == capacity) {
            capacity *= 2;
            text = realloc(text, capacity);
            if (!text) {
                give_up(2, "cannot read %s: it is too large", path);
            }
        }
    }
    if (ferror(file)) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    fclose(file);
    text[size] = 0;
    return text;
}

static void split_line(char *text, unsigned number)
{
    struct line line = {.number = number};
    char *rest = text, *field;
    while ((field = strsep(&rest, " \t\r"))) {
        if (*field == '#') {
            break;
        }
        if (*field == 0) {
            continue;
        }
        if (line.count == FIELDS) {
            bad(&line, "too many fields");
        }
        line.fields[line.count++] = field;
    }
    if (line.count == 0) {
        return;
    }
    if ((line_count & (line_count + 1)) == 0) {
        lines = realloc(lines, (2 * line_count + 2) * sizeof *lines);
        if (!lines) {
            give_up(2, "%s: it is too large", table_path);
        }
    }
    lines[line_count++] = line;
}

static bool is(const struct line *line, const char *word)
{
    return strcmp(line->fields[0], word) == 0;
}

static void expect(const struct line *line, unsigned least, unsigned most)
{
    if (line->count < least + 1 || line->count > most + 1) {
        bad(line, "a line `%s` has %u%s fields behind that word, here are %u", line->fields[0],
            least, most > least ? " or more" : "", line->count - 1);
    }
}

static uint64_t number(const struct line *line, unsigned field, uint64_t most)
{
    const char *text = line->fields[field];
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end || errno) {
        bad(line, "`%s` is not a number", text);
    }
    if (value > most) {
        bad(line, "%s is too large, the limit is %lu", text, (unsigned long)most);
    }
    return value;
}

static uint8_t rights(const struct line *line, unsigned field)
{
    uint8_t set = 0;
    for (const char *c = line->fields[field]; *c; c++) {
        switch (*c) {
        case 'R':
            set |= RIGHT_READ;
            break;
        case 'W':
            set |= RIGHT_WRITE;
            break;
        case 'G':
            set |= RIGHT_GRANT;
            break;
        case 'P':
            set |= RIGHT_GRANT_REPLY;
            break;
        case 'X':
        case '-':
            break;
        default:
            bad(line, "`%c` is not a right; they are R, W, G, P", *c);
        }
    }
    return set;
}

static struct object *find_object(const struct line *line, unsigned field)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        if (strcmp(kernel->objects[i].name, line->fields[field]) == 0) {
            return &kernel->objects[i];
        }
    }
    bad(line, "there is no object %s", line->fields[field]);
}

static struct object *find_object_of(const struct line *line, unsigned field, enum object_kind kind,
                                     const char *word)
{
    struct object *object = find_object(line, field);
    if (object->kind != kind) {
        bad(line, "%s is not a %s", object->name, word);
    }
    return object;
}

static const char *keep(const char *text)
{
    return memory_text(text, strlen(text));
}

/* ---- items ---- */

static void read_object(const struct line *line)
{
    static const struct {
        const char *word;
        enum object_kind kind;
        unsigned fields;
    } KINDS[] = {
        {"endpoint", OBJECT_ENDPOINT, 2}, {"notification", OBJECT_NOTIFICATION, 2},
        {"timer", OBJECT_TIMER, 2},       {"tcb", OBJECT_TCB, 2},
        {"cnode", OBJECT_CNODE, 2},       {"region", OBJECT_REGION, 3},
    };
    expect(line, 2, 3);
    for (unsigned i = 0; i < kernel->object_count; i++) {
        if (strcmp(kernel->objects[i].name, line->fields[1]) == 0) {
            bad(line, "there are two objects %s", line->fields[1]);
        }
    }
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(line->fields[2], KINDS[i].word) == 0) {
            expect(line, KINDS[i].fields, KINDS[i].fields);
            struct object *object = &kernel->objects[kernel->object_count];
            object->number = kernel->object_count++;
            object->name = keep(line->fields[1]);
            object->kind = KINDS[i].kind;
            if (object->kind == OBJECT_REGION) {
                object->region.size = number(line, 3, (uint64_t)1 << 32);
            }
            return;
        }
    }
    bad(line, "`%s` is not a kind of object", line->fields[2]);
}

/* The image is looked for beside the table. */
static const char *image_path(const char *name)
{
    const char *slash = strrchr(table_path, '/');
    if (name[0] == '/' || (!slash && strchr(name, '/'))) {
        return keep(name);
    }
    char path[4096];
    int length = slash ? (int)(slash - table_path) : 1;
    snprintf(path, sizeof path, "%.*s/%s", length, slash ? table_path : ".", name);
    return keep(access(path, R_OK) != 0 && strchr(name, '/') ? name : path);
}

static seL4_Word round_up(seL4_Word n)
{
    seL4_Word power = SLOTS;
    while (power < n) {
        power *= 2;
    }
    return power;
}

/* Counts what belongs to the space, so that arrays can be made. */
static void read_space(const struct line *line)
{
    struct space *space = &kernel->spaces[kernel->space_count];
    seL4_Word last = 0;
    unsigned mappings = 0;
    expect(line, 2, 2);
    space->number = kernel->space_count++;
    space->name = keep(line->fields[1]);
    space->image = image_path(line->fields[2]);
    for (const struct line *item = line + 1; item < lines + line_count && !is(item, "space");
         item++) {
        if (is(item, "cap")) {
            expect(item, 4, 4);
            seL4_Word slot = number(item, 1, 1 << 20);
            last = slot > last ? slot : last;
        }
        mappings += is(item, "map");
    }
    /* slots that are empty at boot are in no line: space for as many again, and more */
    space->slot_count = round_up(4 * (last + 1));
    space->slots = memory_take(space->slot_count * sizeof *space->slots);
    space->mappings = memory_take(mappings * sizeof *space->mappings);
}

static void read_cap(const struct line *line, struct space *space)
{
    struct object *object = find_object(line, 2);
    seL4_Word slot = number(line, 1, space->slot_count - 1);
    if (slot == 0) {
        bad(line, "slot 0 stays empty");
    }
    if (space->slots[slot].kind != OBJECT_NOTHING) {
        bad(line, "there are two capabilities in slot %lu", (unsigned long)slot);
    }
    space->slots[slot] = (struct cap){.kind = object->kind,
                                      .rights = rights(line, 3),
                                      .badge = number(line, 4, UINT64_MAX),
                                      .object = object};
}

static void read_mapping(const struct line *line, struct space *space)
{
    expect(line, 3, 3);
    space->mappings[space->mapping_count++] =
        (struct mapping){.symbol = keep(line->fields[1]),
                         .region = find_object_of(line, 2, OBJECT_REGION, "region"),
                         .rights = rights(line, 3)};
}

/* TCB INDEX ROLE PRIORITY MAX_PRIORITY STACK FAULT_SLOT TASK INSTANCE */
static void read_thread(const struct line *line, struct space *space)
{
    expect(line, 9, 9);
    struct object *tcb = find_object_of(line, 1, OBJECT_TCB, "tcb");
    if (tcb->thread) {
        bad(line, "there are two threads %s", tcb->name);
    }
    struct thread *thread = &kernel->threads[kernel->thread_count];
    thread->number = kernel->thread_count++;
    thread->tcb = tcb;
    tcb->thread = thread;
    thread->space = space;
    thread->index = (unsigned)number(line, 2, UINT32_MAX);
    thread->priority = (uint8_t)number(line, 4, seL4_MaxPrio);
    thread->max_priority = (uint8_t)number(line, 5, seL4_MaxPrio);
    thread->stack_size = number(line, 6, (uint64_t)1 << 32);
    thread->fault_slot = strcmp(line->fields[7], "-") == 0 ? 0 : number(line, 7, space->slot_count);
    thread->instance = keep(line->fields[9]);
    thread->slice = kernel->options.timeslice;
    thread->serves = strcmp(line->fields[3], "worker") == 0;
}

/* OBJECT NOTIFICATION BADGE OFFSET PERIOD [JITTER] */
static void read_timer(const struct line *line)
{
    expect(line, 5, 6);
    struct object *object = find_object_of(line, 1, OBJECT_TIMER, "timer");
    struct timer *timer = &object->timer;
    if (timer->notification) {
        bad(line, "there are two lines for the timer %s", object->name);
    }
    timer->notification = find_object_of(line, 2, OBJECT_NOTIFICATION, "notification");
    timer->badge = number(line, 3, UINT64_MAX);
    timer->jitter = line->count > 6 ? number(line, 6, UINT64_MAX / 4) : 0;
    uint64_t offset = number(line, 4, UINT64_MAX / 4);
    uint64_t period = number(line, 5, UINT64_MAX / 4);
    if (offset > 0 || period > 0) { /* else it is for its holder to arm */
        timer_arm(object, offset, period);
    }
}

static void make_regions(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    off_t end = 0;
    for (unsigned i = 0; i < kernel->object_count; i++) {
        struct object *object = &kernel->objects[i];
        if (object->kind == OBJECT_REGION) {
            uint64_t pages = (object->region.size + page - 1) / page;
            object->region.size = (pages ? pages : 1) * page;
            object->region.offset = end;
            end += (off_t)object->region.size;
        }
    }
    int file = memfd_create("camkes-regions", MFD_CLOEXEC);
    kernel->memory_file = fcntl(file, F_DUPFD_CLOEXEC, 10); /* not where others are put */
    close(file);
    if (kernel->memory_file < 0 || ftruncate(kernel->memory_file, end) != 0) {
        give_up(3, "cannot make shared memory: %s", strerror(errno));
    }
}

/* IPC buffers are apart from the kernel's state: a page each. */
static void make_ipc_buffers(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (sizeof(seL4_IPCBuffer) + page - 1) / page * page;
    char *block = mmap(NULL, (kernel->thread_count + 2) * size, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
        give_up(3, "cannot make IPC buffers: %s", strerror(errno));
    }
    mprotect(block, size, PROT_NONE);
    mprotect(block + (kernel->thread_count + 1) * size, size, PROT_NONE);
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        kernel->threads[i].ipc = (seL4_IPCBuffer *)(block + (i + 1) * size);
    }
}

static void read_lines(char *text)
{
    unsigned n = 0;
    char *rest = text, *line;
    while ((line = strsep(&rest, "\n"))) {
        split_line(line, ++n);
    }
    if (line_count == 0 || !is(&lines[0], "camkes-host-table") || lines[0].count != 2 ||
        strcmp(lines[0].fields[1], "1") != 0) {
        give_up(2, "%s: not a boot table (its first line must be `camkes-host-table 1`)",
                table_path);
    }
}

static void make_arrays(void)
{
    unsigned objects = 0, spaces = 0, threads = 0, timers = 0;
    for (unsigned i = 1; i < line_count; i++) {
        objects += is(&lines[i], "object");
        spaces += is(&lines[i], "space");
        threads += is(&lines[i], "thread");
        timers += is(&lines[i], "timer");
    }
    if (objects >= NONE || threads >= NONE) {
        give_up(2, "%s: the system is too large", table_path);
    }
    kernel->objects = memory_take(objects * sizeof *kernel->objects);
    kernel->spaces = memory_take(spaces * sizeof *kernel->spaces);
    kernel->threads = memory_take(threads * sizeof *kernel->threads);
    kernel->heap = memory_take(timers * sizeof(struct object *));
}

static void read_item(const struct line *line, struct space **space)
{
    bool in_space = is(line, "cap") || is(line, "map") || is(line, "thread");
    if (in_space && !*space) {
        bad(line, "`%s` before the first space", line->fields[0]);
    }
    if (is(line, "space")) {
        read_space(line);
        *space = &kernel->spaces[kernel->space_count - 1];
    } else if (is(line, "cap")) {
        read_cap(line, *space);
    } else if (is(line, "map")) {
        read_mapping(line, *space);
    } else if (is(line, "thread")) {
        read_thread(line, *space);
    } else if (is(line, "timer")) {
        read_timer(line);
    } else if (!is(line, "object")) {
        bad(line, "`%s` is not an item of a boot table", line->fields[0]);
    }
}

void table_read(const char *path)
{
    table_path = path;
    read_lines(read_file(path));
    make_arrays();
    for (unsigned i = 1; i < line_count; i++) {
        if (is(&lines[i], "object")) {
            read_object(&lines[i]);
        }
    }
    struct space *space = NULL;
    for (unsigned i = 1; i < line_count; i++) {
        read_item(&lines[i], &space);
    }
    make_regions();
    make_ipc_buffers();
}
