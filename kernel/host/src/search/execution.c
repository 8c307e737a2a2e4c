/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The system under search runs here until something is left open (choice.c), a schedule ends, or a
 * property is violated. It runs as with --fast, in this process and on the stacks of its threads;
 * the search has the stack of main().
 */
#include "boot/boot.h"
#include "time/budget.h"
#include "entry/entry.h"
#include "isolation/faults.h"
#include "record/output.h"
#include "search/pages.h"
#include "scheduling/scheduling.h"
#include "search/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct execution execution;

static struct {
    char text[512];
    char place[1024];         /* of a race or a fault: members of an object of JSON */
    void *system_sp, *own_sp; /* stack pointers of who does not run */
} control;

static struct place root;

/* ---- what happens in the schedule of a script: lines of JSON ---- */

/* The threads of a schedule have little stack left, so this needs none of the C library. */
static struct {
    size_t length;
    char text[4096];
} line;

static void put_text(const char *text)
{
    while (*text && line.length < sizeof line.text - 2) {
        line.text[line.length++] = *text++;
    }
}

static void put_number(uint64_t number)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put_text(at);
}

static void put_list(const char *name, unsigned count, const uint64_t *numbers)
{
    put_text(", \"");
    put_text(name);
    put_text("\": [");
    for (unsigned i = 0; i < count; i++) {
        put_text(i > 0 ? ", " : "");
        put_number(numbers[i]);
    }
    put_text("]");
}

/* Where the thread is on whose stack this is, and the end of the line. */
static void put_place(void)
{
    struct thread *loaded = process.loaded;
    if (loaded) {
        const struct fault kept = loaded->fault; /* it is where calls are noted */
        backtrace_take(loaded, 0, false);
        put_text(", \"at\": ");
        put_number(loaded->number);
        put_list("frames", loaded->fault.frame_count, loaded->fault.frames);
        loaded->fault = kept;
    }
    put_text("}\n");
    if (write(STDOUT_FILENO, line.text, line.length) != (ssize_t)line.length) {
        process_exit(3);
    }
}

static bool tells(void)
{
    return kernel->options.choices == CHOICES_SCRIPT;
}

static unsigned argument_count(uint16_t kind)
{
    static const struct {
        uint16_t kind;
        const char *names;
    } KINDS[] = {
#define KIND(name, number, names) {number, names},
        CAMKES_TRACE_KINDS(KIND)
#undef KIND
    };
    for (unsigned i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (KINDS[i].kind == kind) {
            unsigned count = KINDS[i].names[0] != 0;
            for (const char *at = KINDS[i].names; *at; at++) {
                count += *at == ' ';
            }
            return count;
        }
    }
    return 0;
}

static void tell_record(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    line.length = 0;
    put_text("{\"event\": \"record\", \"time\": ");
    put_number(kernel->now);
    put_text(", \"kind\": ");
    put_number(kind);
    put_text(", \"thread\": ");
    put_number(thread);
    put_text(", \"other\": ");
    put_number(other);
    put_list("args", args ? argument_count(kind) : 0, args);
    put_place();
}

/* A thread is about to make way, or not to go on. */
static void on_leaving(const struct thread *thread)
{
    (void)thread;
    line.length = 0;
    put_text("{\"event\": \"leaves\"");
    put_place();
}

/* ---- control goes there and back ---- */

static void yield(enum event event)
{
    execution.event = event;
    context_swap(&control.system_sp, control.own_sp);
}

static unsigned on_choice(enum camkes_choice kind, unsigned options)
{
    execution.kind = kind;
    execution.options = options;
    execution.aside = kernel->last && kernel->last->access.aside;
    yield(EVENT_CHOICE);
    return execution.answer;
}

static void on_record(uint16_t kind, const struct thread *thread, const struct thread *other,
                      const uint64_t *args)
{
    const unsigned number = thread ? thread->number : NONE;
    if (tells()) {
        tell_record(kind, number, other ? other->number : NONE, args);
    }
    oracle_record(kernel->now, kind, number, other ? other->number : NONE, args);
    if (thread) {
        outcome_record(kind, number, args);
    }
}

static void on_violation(char property, const char *text)
{
    execution.property = property;
    snprintf(control.text, sizeof control.text, "%s", text);
    control.place[0] = 0;
    yield(EVENT_VIOLATION);
}

/* A loop waits for what only others can do, and keeps those that are less urgent from it. */
static void describe_loop(const struct thread *thread)
{
    snprintf(control.text, sizeof control.text, "%s executes for ever", thread->tcb->name);
    const char *separator = ", and these, which are less urgent, never can: ";
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        const struct thread *other = &kernel->threads[i];
        const size_t used = strlen(control.text);
        if (other->queued && other->priority < thread->priority) {
            snprintf(control.text + used, sizeof control.text - used, "%s%s", separator,
                     other->tcb->name);
            separator = ", ";
        }
    }
}

static void on_fault(const struct thread *thread)
{
    char what[128];
    report_words(&thread->fault, what);
    snprintf(control.text, sizeof control.text, "%s stops at a fault: %s", thread->tcb->name, what);
    if (thread->fault.kind == CAMKES_FAULT_LOOP && kernel->options.arrivals) {
        describe_loop(thread);
    }
    line.length = 0;
    put_text(", \"space\": \"");
    put_text(thread->space->name);
    put_text("\"");
    put_list("code", thread->fault.frame_count, thread->fault.frames);
    line.text[line.length] = 0;
    snprintf(control.place, sizeof control.place, "%.1000s", line.text);
    execution.property = 'F';
    yield(EVENT_VIOLATION);
}

/* Where memory is, as a member of an object of JSON. */
static int put_data(char *text, size_t size, const struct thread *thread)
{
    const uint64_t place = thread->access.place;
    for (unsigned i = 0; place >= SHARED_PLACE && i < kernel->object_count; i++) {
        const struct object *object = &kernel->objects[i];
        const uint64_t offset = place - SHARED_PLACE - (uint64_t)object->region.offset;
        if (object->kind == OBJECT_REGION && offset < object->region.size) {
            return snprintf(text, size, ", \"region\": \"%s\", \"data\": %" PRIu64, object->name,
                            offset);
        }
    }
    return snprintf(text, size, ", \"data\": %" PRIu64, place - thread->space->base);
}

static void on_race(const struct thread *one, const struct thread *other)
{
    snprintf(control.text, sizeof control.text, "%s %s what %s is about to %s", one->tcb->name,
             one->access.write ? "writes" : "reads", other->tcb->name,
             other->access.write ? "write" : "read");
    const int used = put_data(control.place, sizeof control.place, one);
    /* the byte before the place that the call returns to is of its line */
    snprintf(control.place + used, sizeof control.place - (size_t)used,
             ", \"code\": [[\"%s\", %" PRIu64 "], [\"%s\", %" PRIu64 "]]", one->space->name,
             one->access.from - 1 - one->space->base, other->space->name,
             other->access.from - 1 - other->space->base);
    execution.property = 'R';
    yield(EVENT_VIOLATION);
}

/* The first function on the stack from which threads begin to run, and to which the end comes. */
static void run_system(void)
{
    kernel_go();
    for (;;) {
        outcome_report();
        yield(EVENT_END);
    }
}

/* The system goes on with this option of the choice that it has come to. */
enum event execution_resume(unsigned answer)
{
    execution.answer = answer;
    snapshot_run();
    stack_clear_below(control.system_sp);
    context_swap(&control.own_sp, control.system_sp);
    return execution.event;
}

void execution_save(struct place *place)
{
    snapshot_take(place, process.loaded, control.system_sp);
    place->sp = control.system_sp;
}

void execution_go_back(const struct place *place)
{
    snapshot_restore(place);
    control.system_sp = place->sp;
}

/* From the beginning to the first choice. */
enum event execution_begin(void)
{
    execution_go_back(&root);
    return execution_resume(0);
}

/* When the system has been booted. */
void execution_initialise(void)
{
    static const size_t STACK = 64 * 1024;
    char *stack = pages_reserve(STACK);
    hooks.choose = on_choice;
    hooks.record = on_record;
    hooks.fault = on_fault;
    hooks.race = on_race;
    hooks.wrote = snapshot_wrote;
    hooks.access = learned_access;
    hooks.worked = learned_worked;
    hooks.offsets = learned_offsets;
    hooks.touched = snapshot_touch;
    hooks.leaves = tells() ? on_leaving : NULL;
    oracle_report = on_violation;
    oracle_find_going_on = wakes_find;
    snapshot_initialise(stack, STACK);
    execution.choices = pages_reserve(MOST_CHOICES * sizeof *execution.choices);
    execution.numbers = pages_reserve(MOST_CHOICES * sizeof *execution.numbers);
    kernel->traced = true;
    budget_show();
    control.system_sp = root.sp = context_make(stack + STACK, run_system);
    snapshot_take(&root, NULL, root.sp);
}

/* ---- whole schedules ---- */

/* Runs a schedule, with option 0 behind its end. Whether it violates the property (0: any); then
 * the choices end where it does. */
bool execution_violates(const uint16_t *choices, unsigned length, char property)
{
    unsigned made = 0;
    enum event event = execution_begin();
    progress->reruns++;
    while (event == EVENT_CHOICE && made < MOST_CHOICES) {
        unsigned answer = made < length ? choices[made] : 0;
        answer = answer < execution.options ? answer : execution.options - 1;
        execution.choices[made++] = (uint16_t)answer;
        event = execution_resume(answer);
    }
    execution.length = made;
    return event == EVENT_VIOLATION && (property == 0 || execution.property == property);
}

/* A violation gets option 0 wherever another one makes no difference to it. */
void execution_make_smaller(void)
{
    const char property = execution.property;
    uint16_t *kept = pages_reserve(MOST_CHOICES * sizeof *kept);
    unsigned length = execution.length;
    memcpy(kept, execution.choices, length * sizeof *kept);
    for (unsigned i = 0; i < length; i++) {
        if (kept[i] == 0) {
            continue;
        }
        const uint16_t old = kept[i];
        kept[i] = 0;
        if (execution_violates(kept, length, property)) {
            length = execution.length;
            memcpy(kept, execution.choices, length * sizeof *kept);
        } else {
            kept[i] = old;
        }
    }
    while (length > 0 && kept[length - 1] == 0) {
        length--;
    }
    if (!execution_violates(kept, length, property)) {
        give_up(3, "a schedule does not repeat: components depend on something outside of it");
    }
    execution.length = length; /* what comes behind is 0 */
}

/* Runs a script. Whether it violates a property. */
bool execution_repeats(const unsigned *numbers, unsigned count)
{
    unsigned made = 0;
    enum event event = execution_begin();
    progress->reruns++;
    while (event == EVENT_CHOICE && made < MOST_CHOICES) {
        const unsigned number = made < count ? numbers[made] : 0;
        const unsigned answer = number < execution.options ? number : execution.options - 1;
        execution.numbers[made++] = answer;
        event = execution_resume(answer);
    }
    execution.number_count = made;
    return event == EVENT_VIOLATION;
}

static unsigned number_of(unsigned answer)
{
    return execution.kind == CAMKES_CHOICE_DURATION ? duration_number(answer) : answer;
}

/* Makes a script of the choices of the violation, for which nothing is known about the system: all
 * accesses to memory are points, those that a search has passed over with option 0. */
void execution_make_complete(void)
{
    const unsigned length = execution.length;
    learned_show_all();
    unsigned used = 0, made = 0;
    enum event event = execution_begin();
    execution.number_count = 0;
    while (event == EVENT_CHOICE && made < MOST_CHOICES) {
        const unsigned answer = execution.aside || used == length ? 0 : execution.choices[used++];
        execution.numbers[made++] = number_of(answer);
        execution.number_count = answer > 0 ? made : execution.number_count; /* then 0 */
        event = execution_resume(answer);
    }
    if (event != EVENT_VIOLATION) {
        give_up(3, "a schedule has too many accesses to memory to be repeated");
    }
}

/* A line of JSON. */
void execution_put_violation(void)
{
    dprintf(STDOUT_FILENO,
            "{\"event\": \"violation\", \"property\": \"%c\", \"time\": %" PRIu64
            ", \"text\": \"%s\", \"choices\": [",
            execution.property, kernel->now, control.text);
    for (unsigned i = 0; i < execution.number_count; i++) {
        dprintf(STDOUT_FILENO, "%s%u", i > 0 ? ", " : "", execution.numbers[i]);
    }
    dprintf(STDOUT_FILENO, "]%s}\n", control.place);
}
