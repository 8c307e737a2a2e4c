/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Reads the boot table, whose format ../README.md describes, into the kernel's memory. */
#include "boot/boot.h"
#include "boot/fields.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "scheduling/scheduling.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SLOTS = 256 };

static const char *keep(const char *text)
{
    return memory_text(text, strlen(text));
}

static void read_object(const struct line *line)
{
    static const struct {
        const char *word;
        enum object_kind kind;
        unsigned fields;
    } KINDS[] = {
        {"endpoint", OBJECT_ENDPOINT, 2},
        {"notification", OBJECT_NOTIFICATION, 2},
        {"timer", OBJECT_TIMER, 2},
        {"tcb", OBJECT_TCB, 2},
        {"cnode", OBJECT_CNODE, 2},
        {"region", OBJECT_REGION, 3},
        {"reply", OBJECT_REPLY_OBJECT, 2},
        {"scheduling-context", OBJECT_CONTEXT, 3},
        {"sched-control", OBJECT_SCHED_CONTROL, 2},
    };
    field_expect(line, 2, 3);
    for (unsigned i = 0; i < kernel->object_count; i++) {
        if (strcmp(kernel->objects[i].name, line->fields[1]) == 0) {
            field_bad(line, "there are two objects %s", line->fields[1]);
        }
    }
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(line->fields[2], KINDS[i].word) == 0) {
            field_expect(line, KINDS[i].fields, KINDS[i].fields);
            struct object *object = &kernel->objects[kernel->object_count];
            object->number = kernel->object_count++;
            object->name = keep(line->fields[1]);
            object->kind = KINDS[i].kind;
            if (object->kind == OBJECT_REGION) {
                object->region.size = field_number(line, 3, (uint64_t)1 << 32);
            } else if (object->kind == OBJECT_CONTEXT) {
                table_read_context(line, object);
            }
            return;
        }
    }
    field_bad(line, "`%s` is not a kind of object", line->fields[2]);
}

/* The image is looked for beside the table. */
static const char *image_path(const char *name)
{
    const char *slash = strrchr(fields.path, '/');
    if (name[0] == '/' || (!slash && strchr(name, '/'))) {
        return keep(name);
    }
    char path[4096];
    int length = slash ? (int)(slash - fields.path) : 1;
    snprintf(path, sizeof path, "%.*s/%s", length, slash ? fields.path : ".", name);
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
    field_expect(line, 2, 3);
    space->number = kernel->space_count++;
    space->heap = line->count > 3 ? field_number(line, 3, SIZE_MAX) : SIZE_MAX;
    space->name = keep(line->fields[1]);
    space->image = image_path(line->fields[2]);
    for (const struct line *item = line + 1;
         item < fields.lines + fields.count && !field_is(item, "space"); item++) {
        if (field_is(item, "cap")) {
            field_expect(item, 4, 4);
            seL4_Word slot = field_number(item, 1, 1 << 20);
            last = slot > last ? slot : last;
        }
        mappings += field_is(item, "map");
    }
    /* slots that are empty at boot are in no line: space for as many again, and more */
    space->slot_count = round_up(4 * (last + 1));
    space->slots = memory_take(space->slot_count * sizeof *space->slots);
    space->mappings = memory_take(mappings * sizeof *space->mappings);
}

static void read_cap(const struct line *line, struct space *space)
{
    struct object *object = field_object(line, 2);
    seL4_Word slot = field_number(line, 1, space->slot_count - 1);
    if (slot == 0) {
        field_bad(line, "slot 0 stays empty");
    }
    if (space->slots[slot].kind != OBJECT_NOTHING) {
        field_bad(line, "there are two capabilities in slot %lu", (unsigned long)slot);
    }
    space->slots[slot] = (struct cap){.kind = object->kind,
                                      .rights = field_rights(line, 3),
                                      .badge = field_number(line, 4, UINT64_MAX),
                                      .object = object};
}

static void read_mapping(const struct line *line, struct space *space)
{
    field_expect(line, 3, 3);
    space->mappings[space->mapping_count++] =
        (struct mapping){.symbol = keep(line->fields[1]),
                         .region = field_object_of(line, 2, OBJECT_REGION, "region"),
                         .rights = field_rights(line, 3)};
}

/* TCB INDEX ROLE PRIORITY MAX_PRIORITY STACK FAULT_SLOT TASK INSTANCE */
static void read_thread(const struct line *line, struct space *space)
{
    field_expect(line, 9, 9);
    struct object *tcb = field_object_of(line, 1, OBJECT_TCB, "tcb");
    if (tcb->thread) {
        field_bad(line, "there are two threads %s", tcb->name);
    }
    struct thread *thread = &kernel->threads[kernel->thread_count];
    thread->number = kernel->thread_count++;
    thread->tcb = tcb;
    tcb->thread = thread;
    thread->space = space;
    thread->index = (unsigned)field_number(line, 2, UINT32_MAX);
    thread->priority = (uint8_t)field_number(line, 4, seL4_MaxPrio);
    thread->max_priority = (uint8_t)field_number(line, 5, seL4_MaxPrio);
    thread->stack_size = field_number(line, 6, (uint64_t)1 << 32);
    thread->fault_slot =
        strcmp(line->fields[7], "-") == 0 ? 0 : field_number(line, 7, space->slot_count);
    thread->instance = keep(line->fields[9]);
    thread->slice = kernel->options.timeslice;
    thread->ready = domain_queues(0);
    thread->timeless = kernel->mcs;
    const bool controls = strcmp(line->fields[3], "control") == 0;
    thread->starts = !controls;
    thread->task = !controls || strcmp(line->fields[8], "-") == 0
                       ? NONE
                       : (uint16_t)field_number(line, 8, NONE - 1);
}

/* DOMAIN NS: the next entry of the schedule. */
static void read_slot(const struct line *line)
{
    field_expect(line, 2, 2);
    struct slot *slot = &kernel->slots[kernel->slot_count++];
    slot->domain = (uint8_t)field_number(line, 1, DOMAINS - 1);
    slot->length = field_number(line, 2, UINT64_MAX / 4);
    slot->ready = domain_queues(slot->domain);
    if (slot->length == 0) {
        field_bad(line, "a slot has a length");
    }
}

/* TCB DOMAIN */
static void read_domain(const struct line *line)
{
    field_expect(line, 2, 2);
    struct thread *thread = field_object_of(line, 1, OBJECT_TCB, "tcb")->thread;
    if (!thread) {
        field_bad(line, "the line of the thread %s has to come before", line->fields[1]);
    }
    thread->domain = (uint8_t)field_number(line, 2, DOMAINS - 1);
    thread->ready = domain_queues(thread->domain);
}

/* Where arrivals are by choice no time passes, and all threads are of one domain. */
static void read_of_domains(const struct line *line)
{
    if (kernel->options.arrivals) {
        return;
    }
    if (field_is(line, "slot")) {
        read_slot(line);
    } else {
        read_domain(line);
    }
}

/* WHAT ID,ID,... */
static void read_about(const struct line *line, struct space *space)
{
    static const char *const WORDS[ABOUT_COUNT] = {"serves",     "requests", "contexts", "tasks",
                                                   "conditions", "waiters",  "turns",    "levels"};
    field_expect(line, 2, 2);
    unsigned what = 0;
    while (what < ABOUT_COUNT && strcmp(line->fields[1], WORDS[what]) != 0) {
        what++;
    }
    if (what == ABOUT_COUNT || space->about[what].bits) {
        field_bad(line, "`%s` is not what records are about, or is there twice", line->fields[1]);
    }
    enum { MOST = NONE, WORD = 64 };
    uint64_t bits[MOST / WORD + 1] = {0};
    unsigned count = 0;
    char *rest = line->fields[2], *id;
    while ((id = strsep(&rest, ","))) {
        const unsigned number =
            (unsigned)field_number(&(struct line){line->number, 1, {id}}, 0, NONE - 1);
        bits[number / WORD] |= (uint64_t)1 << number % WORD;
        count = number + 1 > count ? number + 1 : count;
    }
    const size_t size = (count + WORD - 1) / WORD * sizeof *bits;
    space->about[what] = (struct ids){memcpy(memory_take(size), bits, size), count};
}

/* OBJECT NOTIFICATION BADGE OFFSET PERIOD [JITTER] */
static void read_timer(const struct line *line)
{
    field_expect(line, 5, 6);
    struct object *object = field_object_of(line, 1, OBJECT_TIMER, "timer");
    struct timer *timer = &object->timer;
    if (timer->notification) {
        field_bad(line, "there are two lines for the timer %s", object->name);
    }
    timer->notification = field_object_of(line, 2, OBJECT_NOTIFICATION, "notification");
    timer->badge = field_number(line, 3, UINT64_MAX);
    timer->jitter = line->count > 6 ? field_number(line, 6, UINT64_MAX / 4) : 0;
    uint64_t offset = field_number(line, 4, UINT64_MAX / 4);
    uint64_t period = field_number(line, 5, UINT64_MAX / 4);
    if (offset > 0 || period > 0) { /* else it is for its holder to arm */
        timer_arm(object, offset, period);
    }
}

/* OBJECT call|reply|OPERATION NS: OPERATION is in the low bits of the label of a message that is
 * received; a signal has 0. */
static void read_cost(const struct line *line)
{
    field_expect(line, 3, 3);
    struct object *object = field_object(line, 1);
    if (!object->costs) {
        object->costs = memory_take(sizeof *object->costs);
    }
    const uint64_t ns = field_number(line, 3, UINT64_MAX / 8);
    if (strcmp(line->fields[2], "call") == 0) {
        object->costs->call = ns;
    } else if (strcmp(line->fields[2], "reply") == 0) {
        object->costs->reply = ns;
    } else {
        object->costs->received[field_number(line, 2, COST_OPERATIONS - 1)] = ns;
    }
    kernel->costs = true;
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

static void make_arrays(void)
{
    unsigned objects = 0, spaces = 0, threads = 0, slots = 0;
    for (unsigned i = 1; i < fields.count; i++) {
        objects += field_is(&fields.lines[i], "object");
        spaces += field_is(&fields.lines[i], "space");
        threads += field_is(&fields.lines[i], "thread");
        slots += field_is(&fields.lines[i], "slot");
    }
    if (objects >= NONE || threads >= NONE) {
        give_up(2, "%s: the system is too large", fields.path);
    }
    kernel->objects = memory_take(objects * sizeof *kernel->objects);
    kernel->spaces = memory_take(spaces * sizeof *kernel->spaces);
    kernel->threads = memory_take(threads * sizeof *kernel->threads);
    kernel->slots = memory_take(slots * sizeof *kernel->slots);
}

static void read_item(const struct line *line, struct space **space)
{
    bool in_space = field_is(line, "cap") || field_is(line, "map") || field_is(line, "thread") ||
                    field_is(line, "about");
    if (in_space && !*space) {
        field_bad(line, "`%s` before the first space", line->fields[0]);
    }
    if (field_is(line, "space")) {
        read_space(line);
        *space = &kernel->spaces[kernel->space_count - 1];
    } else if (field_is(line, "cap")) {
        read_cap(line, *space);
    } else if (field_is(line, "map")) {
        read_mapping(line, *space);
    } else if (field_is(line, "thread")) {
        read_thread(line, *space);
    } else if (field_is(line, "about")) {
        read_about(line, *space);
    } else if (field_is(line, "timer")) {
        read_timer(line);
    } else if (field_is(line, "cost")) {
        read_cost(line);
    } else if (field_is(line, "slot") || field_is(line, "domain")) {
        read_of_domains(line);
    } else if (!field_is(line, "object") && !table_read_time(line)) {
        field_bad(line, "`%s` is not an item of a boot table", line->fields[0]);
    }
}

void table_read(const char *path)
{
    fields_read(path);
    make_arrays();
    for (unsigned i = 1; i < fields.count; i++) {
        if (field_is(&fields.lines[i], "object")) {
            read_object(&fields.lines[i]);
        }
    }
    timer_initialise();
    struct space *space = NULL;
    for (unsigned i = 1; i < fields.count; i++) {
        read_item(&fields.lines[i], &space);
    }
    domain_initialise();
    make_regions();
    make_ipc_buffers();
}
