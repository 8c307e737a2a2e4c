/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Unhandled faults, as they are reported: a line of text on standard error each or, with
 * --faults, a line of JSON at the end of the run, written by the runner alone. Until then they are
 * in the kernel's memory.
 */
#include "boot/boot.h"
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_REPORTS = 1024 };

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
        return "loops without consuming virtual time";
    case CAMKES_FAULT_EXIT:
        return "its component called exit, status";
    case CAMKES_FAULT_KILLED:
        return "its component's process was killed, signal";
    case CAMKES_FAULT_SYSCALL:
        return "system call of the workstation";
    case CAMKES_FAULT_TIMEOUT:
        return "its budget is used up";
    case CAMKES_FAULT_RECORD:
        return "writes a record of the trace that is not its own";
    case CAMKES_FAULT_BLOCKED:
        return "waits for something outside the system";
    }
    return "unknown fault";
}

static bool has_address(enum camkes_fault kind)
{
    return kind <= CAMKES_FAULT_STACK;
}

/* Of the end of a whole process it is not known which instruction was the reason. */
static bool has_place(enum camkes_fault kind)
{
    return kind != CAMKES_FAULT_EXIT && kind != CAMKES_FAULT_KILLED;
}

/* What happened, in words; space for any of them. */
void report_words(const struct fault *fault, char text[static 128])
{
    if (fault->kind == CAMKES_FAULT_CAPABILITY) {
        snprintf(text, 128, "%s in slot %" PRIu64, describe(fault->kind), fault->address);
    } else if (fault->kind == CAMKES_FAULT_SYSCALL) {
        snprintf(text, 128, "%s: %s", describe(fault->kind), call_name(fault->address));
    } else if (!has_place(fault->kind)) {
        snprintf(text, 128, "%s %" PRIu64, describe(fault->kind), fault->address);
    } else {
        const char *where =
            has_address(fault->kind) && memory_contains(fault->address) ? " of kernel memory" : "";
        snprintf(text, 128, "%s%s", describe(fault->kind), where);
    }
}

/* fault: COMPONENT: thread THREAD: WHAT at ADDRESS, pc ADDRESS (MODULE+OFFSET), ... */
static void write_line(const struct thread *thread)
{
    const struct fault *fault = &thread->fault;
    char text[1024], what[128];
    report_words(fault, what);
    FILE *to = fmemopen(text, sizeof text, "w");
    if (!to) {
        return;
    }
    fprintf(to, "fault: %.100s: thread %.100s: %s", thread->instance, thread->tcb->name, what);
    if (has_address(fault->kind)) {
        fprintf(to, " at 0x%" PRIx64, fault->address);
    }
    if (has_place(fault->kind)) {
        fprintf(to, ", pc 0x%" PRIx64 " (%s+0x%" PRIx64 ")", fault->pc, fault->module,
                fault->offset);
    }
    if (has_place(fault->kind) && fault->frame_count > 0 && !in_image(thread->space, fault->pc)) {
        fprintf(to, ", called from (%.200s+0x%" PRIx64 ")", last_part(thread->space->image),
                fault->frames[0]);
    }
    fputc('\n', to);
    long length = ftell(to);
    fclose(to);
    stream_put(&kernel->messages, text, (size_t)length);
}

void report_initialise(void)
{
    if (kernel->options.faults >= 0) {
        kernel->reports = memory_take(MOST_REPORTS * sizeof *kernel->reports);
    }
}

static struct report *take(const struct thread *thread)
{
    if (kernel->report_count == MOST_REPORTS) {
        kernel->reports_lost++;
        return NULL;
    }
    struct report *report = &kernel->reports[kernel->report_count++];
    report->time = kernel->now;
    report->thread = thread;
    report->fault = thread->fault;
    return report;
}

void report_fault(const struct thread *thread, const struct thread *cause)
{
    if (!kernel->reports) {
        write_line(thread);
        return;
    }
    struct report *report = take(thread);
    if (report) {
        report->cause = cause;
    }
}

/* What a sanitizer found in a thread, which goes on; `text` is its own report. */
void report_finding(const struct thread *thread, const char *what, const char *text)
{
    struct report *report = kernel->reports ? take(thread) : NULL;
    if (report) {
        strncpy(report->finding, what, sizeof report->finding - 1);
        strncpy(report->text, text, sizeof report->text - 1);
    }
}

/* A JSON string. */
static void put_text(FILE *to, const char *name, const char *text)
{
    fprintf(to, ",\"%s\":\"", name);
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\' || byte < ' ' || byte > '~') {
            fprintf(to, "\\u%04x", byte);
        } else {
            fputc(byte, to);
        }
    }
    fputc('"', to);
}

static void put_details(FILE *to, const struct fault *fault)
{
    char what[128];
    report_words(fault, what);
    put_text(to, "what", what);
    if (has_address(fault->kind)) {
        fprintf(to, ",\"address\":%" PRIu64, fault->address);
    }
    if (has_place(fault->kind)) {
        fprintf(to, ",\"pc\":%" PRIu64, fault->pc);
    }
}

static void write_report(FILE *to, const struct report *report)
{
    const struct fault *fault = &report->fault;
    fprintf(to, "{\"time\":%" PRIu64 ",\"thread\":%u,\"type\":%d", report->time,
            report->thread->number, (int)fault->kind);
    if (report->cause) {
        fprintf(to, ",\"cause\":%u", report->cause->number);
    }
    put_text(to, "component", report->thread->instance);
    put_text(to, "name", report->thread->tcb->name);
    if (report->finding[0]) {
        put_text(to, "what", report->finding);
        put_text(to, "finding", report->text);
    } else {
        put_details(to, fault);
    }
    put_text(to, "library", fault->library);
    put_text(to, "image", last_part(report->thread->space->image));
    fprintf(to, ",\"frames\":[");
    for (unsigned i = 0; i < fault->frame_count; i++) {
        fprintf(to, "%s%" PRIu64, i > 0 ? "," : "", fault->frames[i]);
    }
    fprintf(to, "]}\n");
}

static void write_stacks(FILE *to)
{
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct thread *thread = &kernel->threads[i];
        fprintf(to, "{\"stack\":%" PRIu64, thread_stack_used(thread));
        put_text(to, "name", thread->tcb->name);
        fprintf(to, "}\n");
    }
}

/* In the runner, at the end. */
void report_write(void)
{
    if (!kernel->reports) {
        return;
    }
    FILE *to = fdopen(kernel->options.faults, "w");
    for (unsigned i = 0; to && i < kernel->report_count; i++) {
        write_report(to, &kernel->reports[i]);
    }
    if (to && kernel->options.stacks) {
        write_stacks(to);
    }
    if (!to || fclose(to) != 0) {
        complain("cannot report the faults");
        kernel->status = 3;
    }
    if (kernel->reports_lost > 0) {
        complain("%u faults after the first %d are not reported", kernel->reports_lost,
                 MOST_REPORTS);
    }
}
