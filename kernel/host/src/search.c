/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Runs a system under all schedules, or many at random.
 *
 * The system runs as with --fast, in this process and on the stacks of its threads; the search has
 * the stack of main(). Wherever something is left open (choice.c), control comes here. The search
 * saves the state and goes on with option 0; when a schedule ends, or comes to a state that was
 * seen before, it goes back to the last choice with an option that was not tried.
 *
 * Results go to standard output, a line of JSON each.
 */
#include "search.h"
#include "boot.h"
#include "entry.h"
#include "faults.h"
#include "output.h"
#include "pages.h"
#include "scheduling.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CHOICES = 1 << 20, ANY = 254 /* number of preemptions */ };

enum event { EVENT_CHOICE, EVENT_END, EVENT_VIOLATION };

struct frame {
    struct place place;
    void *sp;
    enum camkes_choice kind;
    uint16_t options, chosen;
    uint16_t spent; /* preemptions before it */
};

static struct {
    enum event event;
    enum camkes_choice kind;
    unsigned options, answer;
    char property;
    char text[512];
    char place[256];          /* of a race: members of an object of JSON */
    void *system_sp, *own_sp; /* stack pointers of who does not run */
} control;

static struct place root;
static void *root_sp;
static struct frame *frames;
static unsigned depth, deepest;
static uint16_t *script; /* choices of the schedule that runs */
static unsigned script_length;
static struct {
    uint64_t states, schedules, reruns;
    unsigned bound;
    bool cut;     /* by the bound on preemptions */
    bool stopped; /* by a limit */
} total;
static volatile bool interrupted;
static double start, start_of_processor;
static double last_report;
static uint64_t random_state;

/* ---- control goes there and back ---- */

static void yield(enum event event)
{
    control.event = event;
    context_swap(&control.system_sp, control.own_sp);
}

static unsigned on_choice(enum camkes_choice kind, unsigned options)
{
    control.kind = kind;
    control.options = options;
    yield(EVENT_CHOICE);
    return control.answer;
}

static void on_violation(char property, const char *text)
{
    control.property = property;
    snprintf(control.text, sizeof control.text, "%s", text);
    yield(EVENT_VIOLATION);
}

static void on_fault(const struct thread *thread)
{
    char what[128];
    report_words(&thread->fault, what);
    snprintf(control.text, sizeof control.text, "%s stops at a fault: %s", thread->tcb->name, what);
    control.property = 'F';
    yield(EVENT_VIOLATION);
}

static void on_race(const struct thread *one, const struct thread *other)
{
    const uint64_t base = one->space->base;
    snprintf(control.text, sizeof control.text, "%s %s what %s is about to %s", one->tcb->name,
             one->access.write ? "writes" : "reads", other->tcb->name,
             other->access.write ? "write" : "read");
    /* the byte before the place that the call returns to is of its line */
    snprintf(control.place, sizeof control.place,
             ", \"space\": \"%s\", \"data\": %" PRIu64 ", \"code\": [%" PRIu64 ", %" PRIu64 "]",
             one->space->name, one->access.address - base, one->access.from - 1 - base,
             other->access.from - 1 - base);
    control.property = 'R';
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

static enum event resume(unsigned answer)
{
    control.answer = answer;
    context_swap(&control.own_sp, control.system_sp);
    return control.event;
}

static void go_back(const struct place *place, void *sp)
{
    snapshot_restore(place);
    control.system_sp = sp;
}

/* ---- reports ---- */

static double clock_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double elapsed(void)
{
    return clock_of(CLOCK_MONOTONIC) - start;
}

static void put(const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t n = write(STDOUT_FILENO, text, length);
        if (n <= 0) {
            process_exit(3);
        }
        text += n;
        length -= (size_t)n;
    }
}

static void put_line(const char *what)
{
    char line[512];
    const int length = snprintf(
        line, sizeof line,
        "{\"event\": \"%s\", \"states\": %" PRIu64 ", \"distinct\": %" PRIu64
        ", \"schedules\": %" PRIu64 ", \"reruns\": %" PRIu64
        ", \"bound\": %u, \"deepest\": %u, \"cut\": %s, \"stopped\": %s, \"bytes\": %zu, "
        "\"seconds\": %.3f, \"processor\": %.3f}\n",
        what, total.states, visited_count(), total.schedules, total.reruns, total.bound, deepest,
        total.cut ? "true" : "false", total.stopped ? "true" : "false", snapshot_bytes(), elapsed(),
        clock_of(CLOCK_PROCESS_CPUTIME_ID) - start_of_processor);
    put(line, (size_t)length);
}

static void put_violation(void)
{
    char text[1024];
    int length = snprintf(text, sizeof text,
                          "{\"event\": \"violation\", \"property\": \"%c\", \"time\": %" PRIu64
                          ", \"text\": \"%s\", \"choices\": [",
                          control.property, kernel->now, control.text);
    put(text, (size_t)length);
    for (unsigned i = 0; i < script_length; i++) {
        length = snprintf(text, sizeof text, "%s%u", i > 0 ? ", " : "", script[i]);
        put(text, (size_t)length);
    }
    const char *place = control.property == 'R' ? control.place : "";
    put(text, (size_t)snprintf(text, sizeof text, "]%s}\n", place));
}

/* Whether the search has to stop; reports progress at intervals. */
static bool look_at_limits(void)
{
    static const double EVERY = 0.5;
    const uint64_t most = kernel->options.most_states;
    if (most && total.states >= most) {
        return true;
    }
    if (total.schedules % 256 != 0 && !interrupted) {
        return false;
    }
    const double now = elapsed();
    if (now - last_report >= EVERY) {
        last_report = now;
        put_line("progress");
    }
    return visited_full() || interrupted ||
           (kernel->options.seconds && now >= (double)kernel->options.seconds);
}

/* ---- all schedules ---- */

static bool is_preemption(enum camkes_choice kind, unsigned option)
{
    return option > 0 && (kind == CAMKES_CHOICE_POINT || kind == CAMKES_CHOICE_TIE);
}

/* How many more preemptions there may be. Where any number may, those before a state make no
 * difference to what follows it. */
static unsigned left(unsigned spent)
{
    return total.bound == ANY ? ANY : total.bound - spent;
}

/* A choice was reached: whether to go on from it. */
static bool enter(unsigned spent)
{
    struct frame *frame = &frames[depth];
    *frame = (struct frame){.sp = control.system_sp,
                            .kind = control.kind,
                            .options = (uint16_t)control.options,
                            .spent = (uint16_t)spent};
    snapshot_take(&frame->place, process.loaded, frame->sp);
    total.states++;
    if (!visited_add(frame->place.whole, left(spent))) {
        return false;
    }
    if (++depth == MOST_CHOICES) {
        give_up(3, "a schedule has too many choices for a search");
    }
    deepest = depth > deepest ? depth : deepest;
    return true;
}

/* To the last choice with an option that was not tried; false: there is none. */
static bool go_on(unsigned *spent)
{
    for (; depth > 0; depth--) {
        struct frame *frame = &frames[depth - 1];
        if (frame->chosen + 1 >= frame->options) {
            continue;
        }
        *spent = frame->spent + is_preemption(frame->kind, frame->chosen + 1u);
        if (total.bound != ANY && *spent > total.bound) {
            total.cut = true;
            continue;
        }
        frame->chosen++;
        go_back(&frame->place, frame->sp);
        return true;
    }
    return false;
}

static void note_script(void)
{
    script_length = depth;
    for (unsigned i = 0; i < depth; i++) {
        script[i] = frames[i].chosen;
    }
}

/* All schedules with at most total.bound preemptions. True: a violation was found. */
static bool search_depth_first(void)
{
    unsigned spent = 0, answer = 0;
    depth = 0;
    total.cut = false;
    visited_forget();
    go_back(&root, root_sp);
    for (;;) {
        const enum event event = resume(answer);
        if (event == EVENT_VIOLATION) {
            note_script();
            return true;
        }
        answer = 0;
        if (event == EVENT_CHOICE && enter(spent)) {
            continue;
        }
        total.schedules++;
        if (look_at_limits()) {
            total.stopped = true;
            return false;
        }
        if (!go_on(&spent)) {
            return false;
        }
        answer = frames[depth - 1].chosen;
    }
}

/* With few preemptions first: a violation is the simplest then. */
static bool search_all(void)
{
    static const unsigned STEPS[] = {1, ANY};
    const unsigned most = kernel->options.bound < ANY ? kernel->options.bound : ANY;
    for (unsigned i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        total.bound = STEPS[i] < most ? STEPS[i] : most;
        if (search_depth_first()) {
            return true;
        }
        if (!total.cut || total.stopped || total.bound == most) {
            return false;
        }
    }
    return false;
}

/* ---- schedules at random ---- */

/* splitmix64 */
static uint64_t next_random(void)
{
    random_state += 0x9e3779b97f4a7c15u;
    uint64_t z = random_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/*
 * As probabilistic concurrency testing (PCT; Burckhardt and others, ASPLOS 2010): few preemptions,
 * at places that are as likely each. Every fourth schedule has many instead.
 */
static bool run_at_random(unsigned length)
{
    enum { MOST_CHANGES = 5 };
    unsigned places[MOST_CHANGES];
    const unsigned changes = 1 + (unsigned)(next_random() % MOST_CHANGES);
    const bool many = next_random() % 4 == 0;
    for (unsigned i = 0; i < changes; i++) {
        places[i] = (unsigned)(next_random() % (length + 1));
    }
    script_length = 0;
    go_back(&root, root_sp);
    enum event event = resume(0);
    while (event == EVENT_CHOICE && script_length < MOST_CHOICES) {
        bool change = control.kind == CAMKES_CHOICE_FIRST ||
                      control.kind == CAMKES_CHOICE_DURATION ||
                      control.kind == CAMKES_CHOICE_JITTER;
        for (unsigned i = 0; i < changes; i++) {
            change = change || places[i] == script_length;
        }
        change = change || (many && next_random() % 8 == 0);
        struct place place;
        snapshot_take(&place, process.loaded, control.system_sp);
        total.states++;
        visited_add(place.whole, 0);
        const unsigned answer = change ? (unsigned)(next_random() % control.options) : 0;
        script[script_length++] = (uint16_t)answer;
        event = resume(answer);
    }
    deepest = script_length > deepest ? script_length : deepest;
    total.schedules++;
    return event == EVENT_VIOLATION;
}

static bool search_at_random(void)
{
    random_state = kernel->options.seed;
    total.bound = ANY;
    total.cut = true;
    unsigned length = 64;
    for (uint64_t i = 0; i < kernel->options.schedules; i++) {
        if (run_at_random(length)) {
            return true;
        }
        length = script_length;
        if (look_at_limits()) {
            total.stopped = true;
            return false;
        }
    }
    return false;
}

/* ---- a violation is made smaller ---- */

/* Runs a schedule, with option 0 behind its end. Whether it violates the property; then the script
 * ends where it does. */
static bool violates(const uint16_t *choices, unsigned length, char property)
{
    go_back(&root, root_sp);
    total.reruns++;
    unsigned made = 0;
    enum event event = resume(0);
    while (event == EVENT_CHOICE && made < MOST_CHOICES) {
        unsigned answer = made < length ? choices[made] : 0;
        answer = answer < control.options ? answer : control.options - 1;
        script[made++] = (uint16_t)answer;
        event = resume(answer);
    }
    script_length = made;
    return event == EVENT_VIOLATION && control.property == property;
}

static void make_smaller(void)
{
    const char property = control.property;
    const size_t size = MOST_CHOICES * sizeof(uint16_t);
    uint16_t *kept = pages_reserve(size);
    unsigned length = script_length;
    memcpy(kept, script, length * sizeof *kept);
    for (unsigned i = 0; i < length; i++) {
        if (kept[i] == 0) {
            continue;
        }
        const uint16_t old = kept[i];
        kept[i] = 0;
        if (violates(kept, length, property)) {
            length = script_length;
            memcpy(kept, script, length * sizeof *kept);
        } else {
            kept[i] = old;
        }
    }
    while (length > 0 && kept[length - 1] == 0) {
        length--;
    }
    if (!violates(kept, length, property)) {
        give_up(3, "a schedule does not repeat: components depend on something outside of it");
    }
    script_length = length; /* what comes behind is 0 */
}

/* ---- the whole ---- */

/* One schedule, whose choices are known. */
static bool search_script(void)
{
    for (unsigned i = 0; i < kernel->script_length && i < MOST_CHOICES; i++) {
        script[i] = (uint16_t)kernel->script[i];
    }
    violates(script, kernel->script_length, 0);
    total.schedules = 1;
    return control.event == EVENT_VIOLATION;
}

/* By a signal: the search ends with what it has. */
void search_interrupt(void)
{
    interrupted = true;
}

/* Before components are loaded: space for what they allocate while they run. */
void search_prepare(const char *table)
{
#ifdef __SANITIZE_ADDRESS__
    give_up(2, "there is no search with the sanitizers");
#endif
    mallopt(M_TOP_PAD, 4 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    oracle_read(table);
    oracle_initialise();
}

_Noreturn void search_run(void)
{
    static const size_t STACK = 64 * 1024, STATES = (size_t)1 << 25;
    char *stack = pages_reserve(STACK);
    start = clock_of(CLOCK_MONOTONIC);
    start_of_processor = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    hooks.choose = on_choice;
    hooks.record = oracle_record;
    hooks.fault = on_fault;
    hooks.race = on_race;
    hooks.wrote = snapshot_wrote;
    hooks.touched = snapshot_touch;
    oracle_report = on_violation;
    snapshot_initialise();
    frames = pages_reserve(MOST_CHOICES * sizeof *frames);
    script = pages_reserve(MOST_CHOICES * sizeof *script);
    visited_initialise(STATES);
    kernel->traced = true;
    control.system_sp = root_sp = context_make(stack + STACK, run_system);
    snapshot_take(&root, NULL, root_sp);
    bool found;
    if (kernel->options.choices == CHOICES_SCRIPT) {
        found = search_script();
    } else {
        found = kernel->options.schedules ? search_at_random() : search_all();
        if (found) {
            make_smaller();
        }
    }
    if (found) {
        put_violation();
    }
    put_line("end");
    process_exit(found ? 1 : 0);
}
