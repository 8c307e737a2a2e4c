/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Faults: a message to the thread's fault handler, or a report; the thread stops, the others go on.
 */
#include "kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *describe(enum camkes_fault kind)
{
    switch (kind) {
    case CAMKES_FAULT_READ:
        return "invalid read";
    case CAMKES_FAULT_WRITE:
        return "invalid write";
    case CAMKES_FAULT_EXECUTE:
        return "invalid jump";
    case CAMKES_FAULT_STACK:
        return "stack overflow";
    case CAMKES_FAULT_ARITHMETIC:
        return "division by zero or arithmetic error";
    case CAMKES_FAULT_INSTRUCTION:
        return "illegal instruction";
    case CAMKES_FAULT_ABORT:
        return "abort";
    case CAMKES_FAULT_CAPABILITY:
        return "invalid capability";
    case CAMKES_FAULT_LOOP:
        return "loops without letting time pass";
    case CAMKES_FAULT_EXIT:
        return "its component called exit, status";
    case CAMKES_FAULT_KILLED:
        return "its component's process was killed, signal";
    }
    return "unknown fault";
}

static bool has_address(enum camkes_fault kind)
{
    return kind <= CAMKES_FAULT_STACK;
}

/* fault: COMPONENT: thread THREAD: WHAT at ADDRESS, pc ADDRESS (MODULE+OFFSET), ... */
static void report(const struct thread *thread)
{
    const struct fault *fault = &thread->fault;
    char text[1024];
    size_t n = 0;
#define ADD(...) (n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__))
    ADD("fault: %.100s: thread %.100s: %s", thread->instance, thread->tcb->name,
        describe(fault->kind));
    if (has_address(fault->kind)) {
        ADD(" at 0x%" PRIx64, fault->address);
    } else if (fault->kind == CAMKES_FAULT_CAPABILITY) {
        ADD(" in slot %" PRIu64, fault->address);
    } else if (fault->kind >= CAMKES_FAULT_EXIT) {
        ADD(" %" PRIu64, fault->address);
    }
    if (fault->kind < CAMKES_FAULT_EXIT) {
        ADD(", pc 0x%" PRIx64 " (%s+0x%" PRIx64 ")", fault->pc, fault->module, fault->offset);
    }
    if (fault->caller) {
        const char *slash = strrchr(thread->space->image, '/');
        ADD(", called from (%.200s+0x%" PRIx64 ")", slash ? slash + 1 : thread->space->image,
            fault->caller);
    }
    ADD("\n");
#undef ADD
    if (write(STDERR_FILENO, text, n) < 0) {
        kernel->status = 1; /* the exit status tells, at least */
    }
}

static bool has_handler(struct thread *thread, struct cap **cap)
{
    *cap = thread->fault_slot ? cap_find(thread, thread->fault_slot) : NULL;
    return *cap && (*cap)->kind == OBJECT_ENDPOINT && (*cap)->rights & RIGHT_WRITE &&
           (*cap)->rights & (RIGHT_GRANT | RIGHT_GRANT_REPLY);
}

/* thread->fault says what happened; the thread is running or stopped, but waits for nothing. */
void fault_raise(struct thread *thread)
{
    const struct fault *fault = &thread->fault;
    struct cap *handler;
    /* when a thread loops is a matter of the workstation's clock, so the place is not of the trace
     */
    bool somewhere = fault->kind != CAMKES_FAULT_LOOP;
    uint64_t offset = fault->caller ? fault->caller : fault->offset;
    TRACE(FAULT, thread, NULL, fault->kind, fault->address, somewhere ? fault->pc : 0,
          somewhere ? offset : 0);
    thread->redo = true;
    if (has_handler(thread, &handler)) {
        endpoint_send(thread, handler->object, handler, true, true);
    } else {
        report(thread);
        kernel->faulted = true;
        schedule_set_state(thread, THREAD_INACTIVE);
        TRACE(BLOCK, thread, NULL, CAMKES_BLOCK_FAULT, NONE);
    }
}

/* `receiving`: the capability was to receive from. A slot outside the space does not match its
 * guard. */
void fault_capability(struct thread *thread, seL4_CPtr slot, bool receiving)
{
    bool missing = slot < thread->space->slot_count;
    thread->fault = (struct fault){
        .kind = CAMKES_FAULT_CAPABILITY,
        .address = slot,
        .label = seL4_Fault_CapFault,
        .length = missing ? 5 : 7,
    };
    locate(thread, thread->called_from, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    seL4_Word *message = thread->fault.message;
    message[seL4_CapFault_IP] = thread->called_from;
    message[seL4_CapFault_Addr] = slot;
    message[seL4_CapFault_InRecvPhase] = receiving;
    message[seL4_CapFault_LookupFailureType] =
        missing ? seL4_MissingCapability : seL4_GuardMismatch;
    message[seL4_CapFault_BitsLeft] = missing ? 0 : seL4_WordBits;
    fault_raise(thread);
}

static void fill_exception(struct fault *fault)
{
    fault->label = seL4_Fault_UserException;
    fault->length = seL4_UserException_Length;
    fault->message[seL4_UserException_FaultIP] = fault->pc;
    fault->message[seL4_UserException_SP] = fault->sp;
    fault->message[seL4_UserException_Number] = fault->kind;
}

/* The thread made so many kernel operations at one instant that it seems it always will. */
void fault_silent_loop(struct thread *thread)
{
    thread->fault = (struct fault){.kind = CAMKES_FAULT_LOOP};
    fill_exception(&thread->fault);
    locate(thread, thread->called_from, (uint64_t)(uintptr_t)__builtin_frame_address(0));
    fault_raise(thread);
    kernel_go();
    thread->redo = false;
}

/* The end of a whole address space. */
void fault_space(struct space *space, enum camkes_fault kind, uint64_t detail)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        struct thread *thread = &kernel->threads[i];
        if (thread->space == space && thread->state != THREAD_INACTIVE) {
            tcb_stop(thread);
            thread->fault = (struct fault){.kind = kind, .address = detail};
            fill_exception(&thread->fault);
            fault_raise(thread);
        }
    }
}
