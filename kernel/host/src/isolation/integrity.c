/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Whether the kernel's state is one that the kernel itself can have written. What never changes is
 * compared with a copy of each process's own; pointers and states have to be among those there are.
 */
#include "isolation/memory.h"
#include "state.h"

#include <string.h>

/* Of the time before the first component ran. */
static struct {
    struct options options;
    struct object *objects;
    struct thread *threads;
    struct space *spaces;
    struct slot *slots;
    struct ready *domains[DOMAINS];
    unsigned object_count, thread_count, space_count, slot_count;
} constant;

void integrity_initialise(void)
{
    constant.options = kernel->options;
    constant.objects = kernel->objects;
    constant.threads = kernel->threads;
    constant.spaces = kernel->spaces;
    constant.slots = kernel->slots;
    memcpy(constant.domains, kernel->domains, sizeof constant.domains);
    constant.object_count = kernel->object_count;
    constant.slot_count = kernel->slot_count;
    constant.thread_count = kernel->thread_count;
    constant.space_count = kernel->space_count;
}

static bool good_stream(const struct stream *stream)
{
    return stream->written - stream->read <= STREAM_SIZE;
}

/* What everything else is found by; quick. */
bool integrity_of_tables(void)
{
    return kernel->objects == constant.objects && kernel->threads == constant.threads &&
           kernel->spaces == constant.spaces && kernel->object_count == constant.object_count &&
           kernel->thread_count == constant.thread_count &&
           kernel->space_count == constant.space_count && kernel->slots == constant.slots &&
           kernel->slot_count == constant.slot_count && good_stream(&kernel->console) &&
           good_stream(&kernel->messages) && good_stream(&kernel->network);
}

/* The first and the last word are the first that an overrun changes. */
bool integrity_of_block(void)
{
    return kernel->magic == KERNEL_MAGIC && kernel->magic_at_end == KERNEL_MAGIC &&
           integrity_of_tables();
}

static bool is_element(const void *pointer, const void *array, size_t count, size_t size)
{
    uintptr_t distance = (uintptr_t)pointer - (uintptr_t)array;
    return distance < count * size && distance % size == 0;
}

static bool is_thread(const struct thread *thread)
{
    return is_element(thread, constant.threads, constant.thread_count, sizeof *thread);
}

static bool is_thread_or_none(const struct thread *thread)
{
    return !thread || is_thread(thread);
}

static bool is_object(const struct object *object)
{
    return is_element(object, constant.objects, constant.object_count, sizeof *object);
}

static bool is_object_or_none(const struct object *object)
{
    return !object || is_object(object);
}

static bool good_queue(const struct queue *queue)
{
    return is_thread_or_none(queue->head) && is_thread_or_none(queue->tail) &&
           !queue->head == !queue->tail;
}

static bool good_domains(void)
{
    return memcmp(kernel->domains, constant.domains, sizeof constant.domains) == 0 &&
           (constant.slot_count == 0 ? kernel->ready == constant.domains[0]
                                     : kernel->slot < constant.slot_count &&
                                           kernel->ready == constant.slots[kernel->slot].ready);
}

static bool good_thread(const struct thread *thread, unsigned number)
{
    return thread->number == number && is_object(thread->tcb) && thread->tcb->thread == thread &&
           is_element(thread->space, constant.spaces, constant.space_count,
                      sizeof *thread->space) &&
           thread->state <= THREAD_BLOCKED_NOTIFICATION && thread->line_length <= LINE_LENGTH &&
           thread->ready && thread->ready == constant.domains[thread->domain] && thread->ipc &&
           thread->guard < thread->stack && thread->stack < thread->stack_top &&
           thread->stack_top < thread->fault_stack &&
           thread->fault_stack < thread->fault_stack_top && is_object_or_none(thread->waits_for) &&
           is_object_or_none(thread->context) && is_object_or_none(thread->reply) &&
           is_thread_or_none(thread->next) && is_thread_or_none(thread->previous);
}

static bool good_context(const struct context *context)
{
    return context && context->refills && context->count <= context->most &&
           context->most <= context->room && is_thread_or_none(context->thread) &&
           is_object_or_none(context->notification) && is_object_or_none(context->reply);
}

static bool good_reply(const struct reply *reply)
{
    return is_thread_or_none(reply->thread) && is_object_or_none(reply->earlier) &&
           is_object_or_none(reply->later) && is_object_or_none(reply->context);
}

static bool good_object(const struct object *object, unsigned number)
{
    if (object->number != number || !object->name) {
        return false;
    }
    switch (object->kind) {
    case OBJECT_ENDPOINT:
        return object->endpoint.state <= ENDPOINT_RECV && good_queue(&object->endpoint.queue);
    case OBJECT_NOTIFICATION:
        return good_queue(&object->notification.queue) &&
               is_object_or_none(object->notification.context);
    case OBJECT_TCB:
        return is_thread_or_none(object->thread);
    case OBJECT_TIMER:
        return is_object_or_none(object->timer.notification);
    case OBJECT_CONTEXT:
        return good_context(object->context);
    case OBJECT_REPLY_OBJECT:
        return good_reply(&object->reply);
    case OBJECT_REGION:
    case OBJECT_CNODE:
    case OBJECT_SCHED_CONTROL:
        return true;
    case OBJECT_NOTHING:
    case OBJECT_REPLY: /* only of capabilities */
        break;
    }
    return false;
}

static bool good_cap(const struct cap *cap)
{
    return cap->kind == OBJECT_NOTHING || (cap->kind == OBJECT_REPLY && is_thread(cap->thread)) ||
           (cap->kind < OBJECT_REPLY && is_object(cap->object));
}

static bool good_space(const struct space *space, unsigned number)
{
    if (space->number != number || !space->name || !space->image || !space->slots ||
        (space->slot_count & (space->slot_count - 1)) != 0) {
        return false;
    }
    for (seL4_Word i = 0; i < space->slot_count; i++) {
        if (!good_cap(&space->slots[i])) {
            return false;
        }
    }
    return true;
}

static bool good_lists(void)
{
    for (unsigned i = 0; i < DOMAINS * PRIORITIES; i++) {
        struct ready *domain = kernel->domains[i / PRIORITIES];
        if (domain && !good_queue(&domain->queues[i % PRIORITIES])) {
            return false;
        }
    }
    if (kernel->heap_size > constant.object_count) {
        return false;
    }
    for (unsigned i = 0; i < kernel->heap_size; i++) {
        if (!is_object(kernel->heap[i]) || kernel->heap[i]->kind != OBJECT_TIMER) {
            return false;
        }
    }
    return is_thread_or_none(kernel->current) && is_thread_or_none(kernel->candidate) &&
           kernel->action <= ACTION_SLICE && is_thread_or_none(kernel->shown) &&
           is_thread_or_none(kernel->last) && is_object_or_none(kernel->context) &&
           good_queue(&kernel->postponed);
}

/* All of it; while no thread changes it. */
bool integrity_of_state(void)
{
    if (!integrity_of_tables() ||
        memcmp(&kernel->options, &constant.options, sizeof constant.options) != 0) {
        return false;
    }
    bool good = good_domains() && good_lists();
    for (unsigned i = 0; good && i < constant.thread_count; i++) {
        good = good_thread(&constant.threads[i], i);
    }
    for (unsigned i = 0; good && i < constant.object_count; i++) {
        good = good_object(&constant.objects[i], i);
    }
    for (unsigned i = 0; good && i < constant.space_count; i++) {
        good = good_space(&constant.spaces[i], i);
    }
    return good;
}

/* The number of the address space that ran last, if that can still be seen. */
unsigned integrity_last_space(void)
{
    const struct thread *last = kernel->last;
    const struct space *space = is_thread(last) ? last->space : NULL;
    bool known = is_element(space, constant.spaces, constant.space_count, sizeof *space);
    return known ? (unsigned)(space - constant.spaces) : NONE;
}
