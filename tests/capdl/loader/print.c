/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Prints the tables that a loader is built with: everything that the loader reads of them, objects
 * by their names instead of their numbers. Objects are in the order of the table, what they hold in
 * that of slots.
 */
#include <capdl.h>
#include <inttypes.h>
#include <stdio.h>

#define TEXT(name) #name
static const char *const CAPS[] = {CAP_TYPES(TEXT)};
static const char *const OBJECTS[] = {OBJECT_TYPES(TEXT)};
static const char *const BOOT[] = {FILLS(TEXT)};

static const char *name(CDL_ObjID id)
{
    return id == INVALID_OBJ_ID ? "-" : id < capdl_spec.num ? capdl_spec.objects[id].name : "?";
}

static void print_cap(const CDL_CapSlot *slot)
{
    const CDL_Cap *cap = &slot->cap;
    printf("  %#" PRIx64 ": %s", slot->slot, CAPS[cap->type]);
    switch (cap->type) {
    case CDL_IRQHandlerCap:
        printf(" %" PRIu64 " %s", cap->irq, name(cap->obj_id));
        break;
    case CDL_SchedControlCap:
        printf(" core %" PRIu64, cap->obj_id);
        break;
    case CDL_IRQControlCap:
    case CDL_ASIDControlCap:
    case CDL_DomainCap:
        break;
    default:
        printf(" %s", name(cap->obj_id));
    }
    printf(" rights %u", cap->rights);
    if (cap->data.tag == CDL_CapData_Guard) {
        printf(" guard %" PRIu64 "/%" PRIu64, cap->data.guard_bits, cap->data.guard_size);
    } else {
        const seL4_Word data = cap->data.tag == CDL_CapData_Raw ? cap->data.data : cap->data.badge;
        printf(" data %#" PRIx64, data);
    }
    if (cap->type == CDL_FrameCap) {
        printf(" attributes %u mapped %s %" PRIu64, cap->vm_attribs,
               name(cap->mapping_container_id), cap->mapping_slot);
    }
    printf("\n");
}

static void print_frame(const CDL_Object *object)
{
    printf(" paddr %#" PRIx64, object->frame_extra.paddr);
    for (unsigned i = 0; i < CONFIG_CAPDL_LOADER_FILLS_PER_FRAME; i++) {
        const CDL_FrameFill_Element_t *fill = &object->frame_extra.fill[i];
        if (fill->type == CDL_FrameFill_None) {
            break;
        }
        printf(" fill %zu %zu", fill->dest_offset, fill->dest_len);
        if (fill->type == CDL_FrameFill_BootInfo) {
            printf(" %s %zu", BOOT[fill->bi_type.type], fill->bi_type.src_offset);
        } else {
            printf(" %s %zu", fill->file_data_type.filename, fill->file_data_type.file_offset);
        }
    }
}

static void print_tcb(const CDL_TCBExtraInfo *tcb)
{
    printf(" priority %u/%u core %u domain %u", tcb->priority, tcb->max_priority, tcb->affinity,
           tcb->domain);
    printf(" buffer %#" PRIx64 " pc %#" PRIx64 " sp %#" PRIx64, tcb->ipcbuffer_addr, tcb->pc,
           tcb->sp);
    printf(" fault %#" PRIx64 " resume %d fpu %d init", tcb->fault_ep, tcb->resume,
           !tcb->fpu_disabled);
    for (seL4_Word i = 0; i < tcb->init_sz; i++) {
        printf(" %" PRIu64, tcb->init[i]);
    }
}

static void print_object(const CDL_Object *object)
{
    printf("%s = %s bits %u", object->name, OBJECTS[object->type], object->size_bits);
    switch (object->type) {
    case CDL_TCB:
        print_tcb(&object->tcb_extra);
        break;
    case CDL_Frame:
        print_frame(object);
        break;
    case CDL_Untyped:
        printf(" paddr %#" PRIx64, object->paddr);
        break;
    case CDL_SchedContext:
        printf(" period %" PRIu64 " budget %" PRIu64 " data %#" PRIx64, object->sc_extra.period,
               object->sc_extra.budget, object->sc_extra.data);
        break;
    case CDL_ASIDPool:
        printf(" high %" PRIu64, object->asid_high);
        break;
    case CDL_IOPorts:
        printf(" ports %" PRIu64 "..%" PRIu64, object->start, object->end);
        break;
    case CDL_CB:
        printf(" bank %u", object->cb_extra.bank);
        break;
    case CDL_IOAPICInterrupt:
        printf(" pin %d/%d level %d polarity %d", object->ioapicirq_extra.ioapic,
               object->ioapicirq_extra.ioapic_pin, object->ioapicirq_extra.level,
               object->ioapicirq_extra.polarity);
        break;
    case CDL_MSIInterrupt:
        printf(" device %d:%d.%d handle %d", object->msiirq_extra.pci_bus,
               object->msiirq_extra.pci_dev, object->msiirq_extra.pci_fun,
               object->msiirq_extra.handle);
        break;
    case CDL_ARMInterrupt:
        printf(" trigger %d target %d", object->armirq_extra.trigger, object->armirq_extra.target);
        break;
    default:
        break;
    }
    printf("\n");
    for (seL4_Word i = 0; i < object->slots.num; i++) {
        print_cap(&object->slots.slot[i]);
    }
}

int main(void)
{
    const CDL_Model *model = &capdl_spec;
    for (seL4_Word i = 0; i < model->num; i++) {
        print_object(&model->objects[i]);
    }
    for (seL4_Word i = 0; i < model->num_irqs; i++) {
        if (model->irqs[i] != INVALID_OBJ_ID) {
            printf("interrupt %" PRIu64 " %s\n", i, name(model->irqs[i]));
        }
    }
    for (seL4_Word i = 0; i < model->num_untyped; i++) {
        printf("untyped %s:", name(model->untyped[i].untyped));
        for (seL4_Word j = 0; j < model->untyped[i].num; j++) {
            printf(" %s", name(model->untyped[i].children[j]));
        }
        printf("\n");
    }
    for (seL4_Word i = 1; i < model->num_asid_slots; i++) {
        printf("pool %" PRIu64 " %s\n", i, name(model->asid_slots[i]));
    }
    for (seL4_Word i = 0; i < model->domainScheduleLength; i++) {
        printf("domain %#" PRIx64 "\n", model->domainSchedule[i]);
    }
    printf("start %" PRIu64 " shift %" PRIu64 "\n", model->domainSetStart, model->domainIndexShift);
    return 0;
}
