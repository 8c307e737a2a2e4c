/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A register of the virtual machine: the guest writes how many samples are put into the record. */
#include <camkes.h>
#include <sel4vm/guest_memory.h>
#include <sel4vm/guest_vcpu_fault.h>
#include <vmlinux.h>

enum { REGISTER = 0x0A100000, LENGTH = 0x1000 };

static memory_fault_result_t put(vm_t *vm, vm_vcpu_t *vcpu, uintptr_t address, size_t length,
                                 void *cookie)
{
    (void)vm;
    (void)address;
    (void)length;
    (void)cookie;
    if (is_vcpu_read_fault(vcpu)) {
        set_vcpu_fault_data(vcpu, 0);
    } else {
        const uint32_t count = (uint32_t)get_vcpu_fault_data(vcpu);
        for (uint32_t i = 0; i < count; i++) {
            record_put((int)i);
        }
    }
    advance_vcpu_fault(vcpu);
    return FAULT_HANDLED;
}

static void make_register(vm_t *vm, void *cookie)
{
    (void)cookie;
    ZF_LOGF_IF(vm_reserve_memory_at(vm, REGISTER, LENGTH, put, NULL) == NULL,
               "the register has no place");
}

DEFINE_MODULE(sample, NULL, make_register)
