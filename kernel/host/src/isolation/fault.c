/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Faults: a message to the thread's fault handler, or a report; the thread stops, the others go on.
 */
#include "isolation/faults.h"
#include "objects/operations.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

static bool has_handler(struct thread *thread, struct cap **cap)
{
    *cap = kernel->mcs          ? &thread->fault_cap
           : thread->fault_slot ? cap_find(thread, thread->fault_slot)
                                : NULL;
    return *cap && (*cap)->kind == OBJECT_ENDPOINT && (*cap)->rights & RIGHT_WRITE &&
           (*cap)->rights & (RIGHT_GRANT | RIGHT_GRANT_REPLY);
}

/* thread->fault has what happened; the thread is running or stopped, but waits for nothing. */
static void raise_because(struct thread *thread, const struct thread *cause)
{
    const struct fault *fault = &thread->fault;
    struct cap *handler;
    /* when a thread loops is a matter of the workstation's clock, so the place is not of the trace
     */
    bool somewhere = fault->kind != CAMKES_FAULT_LOOP;
    uint64_t offset = fault->frame_count > 0 ? fault->frames[0] : fault->offset;
    TRACE(FAULT, thread, NULL, fault->kind, fault->address, somewhere ? fault->pc : 0,
          somewhere ? offset : 0);
    thread->redo = true;
    if (has_handler(thread, &handler)) {
        endpoint_send(thread, handler->object, handler, true, true, true);
    } else {
        if (hooks.fault) {
            hooks.fault(thread);
        }
        report_fault(thread, cause);
        kernel->faulted = true;
        ready_set_state(thread, THREAD_INACTIVE);
        TRACE(BLOCK, thread, NULL, CAMKES_BLOCK_FAULT, NONE);
    }
}

void fault_raise(struct thread *thread)
{
    raise_because(thread, NULL);
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
    backtrace_take(thread, 0, false);
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

void fault_fill_exception(struct fault *fault)
{
    fault->label = seL4_Fault_UserException;
    fault->length = seL4_UserException_Length;
    fault->message[seL4_UserException_FaultIP] = fault->pc;
    fault->message[seL4_UserException_SP] = fault->sp;
    fault->message[seL4_UserException_Number] = fault->kind;
}

/* The end of a whole address space, by its thread `cause` or (NULL) from outside. */
void fault_space(struct space *space, enum camkes_fault kind, uint64_t detail,
                 const struct thread *cause)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        struct thread *thread = &kernel->threads[i];
        if (thread->space == space && thread->state != THREAD_INACTIVE) {
            tcb_stop(thread);
            thread->fault = (struct fault){.kind = kind, .address = detail};
            fault_fill_exception(&thread->fault);
            if (thread == cause) {
                backtrace_take(thread, 0, false);
            }
            raise_because(thread, cause);
        }
    }
}
