/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-27 */
/* A state with every kind of object is sound, and is no longer after any one field was overwritten.
 */
#include "isolation/memory.h"
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 7, THREADS = 2, SPACES = 2, SLOTS = 4 };

static struct kernel state;
struct kernel *kernel = &state;

static struct object objects[OBJECTS], stranger;
static struct thread threads[THREADS], unknown;
static struct space spaces[SPACES], elsewhere;
static struct cap slots[SPACES][SLOTS];
static struct ready ready, other;
static struct slot slot_table[2];
static struct object *heap[OBJECTS + 1];
static seL4_IPCBuffer buffer;
static char memory[64];

static void begin(void)
{
    static const enum object_kind KINDS[OBJECTS] = {
        OBJECT_ENDPOINT, OBJECT_NOTIFICATION, OBJECT_TCB,  OBJECT_TCB,
        OBJECT_TIMER,    OBJECT_REGION,       OBJECT_CNODE};
    memset(&state, 0, sizeof state);
    memset(threads, 0, sizeof threads);
    memset(slots, 0, sizeof slots);
    state.magic = state.magic_at_end = KERNEL_MAGIC;
    state.objects = objects;
    state.threads = threads;
    state.spaces = spaces;
    state.object_count = OBJECTS;
    state.thread_count = THREADS;
    state.space_count = SPACES;
    memset(&ready, 0, sizeof ready);
    memset(&other, 0, sizeof other);
    state.ready = state.domains[0] = &ready;
    state.domains[2] = &other;
    slot_table[0].ready = &ready;
    slot_table[1].ready = &other;
    state.slots = slot_table;
    state.slot_count = 2;
    state.heap = heap;
    state.heap_size = 1;
    heap[0] = &objects[4];
    for (unsigned i = 0; i < OBJECTS; i++) {
        objects[i] = (struct object){.number = i, .name = "object", .kind = KINDS[i]};
    }
    objects[4].timer.notification = &objects[1];
    for (unsigned i = 0; i < THREADS; i++) {
        objects[2 + i].thread = &threads[i];
        threads[i] = (struct thread){.number = i,
                                     .tcb = &objects[2 + i],
                                     .space = &spaces[i],
                                     .ready = &ready,
                                     .ipc = &buffer,
                                     .guard = memory,
                                     .stack = memory + 1,
                                     .stack_top = memory + 2,
                                     .fault_stack = memory + 3,
                                     .fault_stack_top = memory + 4};
    }
    for (unsigned i = 0; i < SPACES; i++) {
        spaces[i] = (struct space){
            .number = i, .name = "space", .image = "a.so", .slots = slots[i], .slot_count = SLOTS};
    }
    slots[1][2] = (struct cap){.kind = OBJECT_ENDPOINT, .object = &objects[0]};
    slots[1][3] = (struct cap){.kind = OBJECT_REPLY, .thread = &threads[0]};
    integrity_initialise();
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

#define SOUND(change)                                                                              \
    begin();                                                                                       \
    change;                                                                                        \
    need(integrity_of_state() && integrity_of_block(), "not sound: " #change)
#define DAMAGED(change)                                                                            \
    begin();                                                                                       \
    change;                                                                                        \
    need(!integrity_of_state(), "not seen: " #change)
#define DAMAGED_BLOCK(change)                                                                      \
    begin();                                                                                       \
    change;                                                                                        \
    need(!integrity_of_block(), "not seen in the block: " #change)

static void tables(void)
{
    SOUND((void)0);
    DAMAGED_BLOCK(state.magic++);
    DAMAGED_BLOCK(state.magic_at_end--);
    DAMAGED_BLOCK(state.objects++);
    DAMAGED(state.objects++);
    DAMAGED(state.slots++);
    DAMAGED(state.slot_count++);
    DAMAGED(state.slot = 2);
    DAMAGED(state.ready = &other);
    DAMAGED(state.domains[2] = &ready);
    DAMAGED(threads[0].ready = &other);
    DAMAGED(threads[0].domain = 1);
    SOUND(((void)(state.slot = 1), state.ready = &other));
    DAMAGED(state.threads++);
    DAMAGED(state.spaces++);
    DAMAGED(state.object_count--);
    DAMAGED(state.thread_count--);
    DAMAGED(state.space_count--);
    DAMAGED(state.object_count++);
    DAMAGED(state.thread_count++);
    DAMAGED(state.space_count++);
    SOUND(state.console.written = STREAM_SIZE);
    DAMAGED(state.console.written = STREAM_SIZE + 1);
    DAMAGED(state.console.read = 1);
    DAMAGED(state.messages.read = 1);
    SOUND(state.messages.read = state.messages.written = 5);
    DAMAGED(state.options.until = 1);
    DAMAGED(state.options.seconds = 1);
}

static void lists(void)
{
    SOUND(ready.queues[0] = ((struct queue){&threads[0], &threads[1]}));
    DAMAGED(ready.queues[0].head = &threads[0]);
    DAMAGED(ready.queues[PRIORITIES - 1].tail = &threads[0]);
    DAMAGED(ready.queues[1] = ((struct queue){&unknown, &threads[0]}));
    DAMAGED(ready.queues[1] = ((struct queue){&threads[0], &unknown}));
    DAMAGED(ready.queues[1].head = ready.queues[1].tail = (struct thread *)((char *)threads + 1));
    DAMAGED(ready.queues[1].head = ready.queues[1].tail = threads + THREADS);
    DAMAGED(state.heap_size = OBJECTS + 1);
    DAMAGED(heap[0] = &stranger);
    DAMAGED(heap[0] = &objects[1]);
    SOUND(heap[1] = &objects[4]; state.heap_size = 2);
    SOUND(for (unsigned i = 0; i < OBJECTS; i++) { heap[i] = &objects[4]; } state.heap_size =
              OBJECTS);
    DAMAGED(heap[1] = NULL; state.heap_size = 2);
    SOUND(state.current = state.shown = &threads[1]);
    DAMAGED(state.current = &unknown);
    DAMAGED(state.shown = &unknown);
}

static void of_threads(void)
{
    struct thread *last = &threads[THREADS - 1];
    DAMAGED(threads[0].number = 1);
    DAMAGED(last->number = 0);
    DAMAGED(last->tcb = &stranger);
    DAMAGED(last->tcb = &objects[2]);
    DAMAGED(last->space = &elsewhere);
    DAMAGED(last->space = NULL);
    SOUND(last->state = THREAD_BLOCKED_NOTIFICATION);
    DAMAGED(last->state = THREAD_BLOCKED_NOTIFICATION + 1);
    SOUND(last->line_length = LINE_LENGTH);
    DAMAGED(last->line_length = LINE_LENGTH + 1);
    DAMAGED(last->ipc = NULL);
    DAMAGED(last->guard = last->stack);
    DAMAGED(last->guard = last->stack + 1);
    DAMAGED(last->stack = last->stack_top);
    DAMAGED(last->stack = last->stack_top + 1);
    DAMAGED(last->stack_top = last->fault_stack);
    DAMAGED(last->stack_top = last->fault_stack + 1);
    DAMAGED(last->fault_stack = last->fault_stack_top);
    DAMAGED(last->fault_stack = last->fault_stack_top + 1);
    SOUND(last->waits_for = &objects[0]);
    DAMAGED(last->waits_for = &stranger);
    SOUND(last->next = last->previous = threads);
    DAMAGED(last->next = &unknown);
    DAMAGED(last->previous = &unknown);
}

static void of_objects(void)
{
    DAMAGED(objects[0].number = 1);
    DAMAGED(objects[OBJECTS - 1].number = 0);
    DAMAGED(objects[OBJECTS - 1].name = NULL);
    DAMAGED(objects[OBJECTS - 1].kind = OBJECT_NOTHING);
    DAMAGED(objects[OBJECTS - 1].kind = OBJECT_REPLY);
    SOUND(objects[0].endpoint.state = ENDPOINT_RECV);
    DAMAGED(objects[0].endpoint.state = ENDPOINT_RECV + 1);
    DAMAGED(objects[0].endpoint.queue.head = &threads[0]);
    DAMAGED(objects[1].notification.queue.tail = &threads[0]);
    DAMAGED(objects[3].thread = &unknown);
    SOUND(objects[4].timer.notification = NULL);
    DAMAGED(objects[4].timer.notification = &stranger);
}

static void of_spaces(void)
{
    struct space *last = &spaces[SPACES - 1];
    DAMAGED(spaces[0].number = 1);
    DAMAGED(last->number = 0);
    DAMAGED(last->name = NULL);
    DAMAGED(last->image = NULL);
    DAMAGED(last->slots = NULL);
    DAMAGED(last->slot_count = SLOTS - 1);
    DAMAGED(last->slots[0] = ((struct cap){.kind = OBJECT_ENDPOINT, .object = &stranger}));
    DAMAGED(last->slots[SLOTS - 1] = ((struct cap){.kind = OBJECT_CNODE, .object = NULL}));
    DAMAGED(last->slots[SLOTS - 1].thread = &unknown);
    DAMAGED(last->slots[0].kind = OBJECT_REPLY + 1);
    SOUND(last->slots[0] = ((struct cap){.kind = OBJECT_NOTHING, .object = &stranger}));
}

static void last_space(void)
{
    begin();
    need(integrity_last_space() == NONE, "no thread ran");
    state.last = &threads[1];
    need(integrity_last_space() == 1, "the space of the last thread");
    threads[1].space = &elsewhere;
    need(integrity_last_space() == NONE, "a space that is not one");
    state.last = &unknown;
    need(integrity_last_space() == NONE, "a thread that is not one");
}

int main(void)
{
    tables();
    lists();
    of_threads();
    of_objects();
    of_spaces();
    last_space();
    printf("good\n");
    return 0;
}
