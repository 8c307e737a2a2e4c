/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Runs a system under all schedules, or many at random.
 *
 * Wherever something is left open, the search saves the state and goes on with option 0; when a
 * schedule ends, or comes to a state that was seen before, it goes back to the last choice with an
 * option that was not tried.
 *
 * Results go to standard output, a line of JSON each.
 */
#include "record/output.h"
#include "search/pages.h"
#include "scheduling/scheduling.h"
#include "search/search.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ANY = 254 /* number of preemptions */ };

struct frame {
    struct place place;
    enum camkes_choice kind;
    uint16_t options, chosen;
    uint16_t spent; /* preemptions before it */
};

static struct frame *frames;
static unsigned depth;
static struct part base; /* choices before the first frame */
static struct {
    unsigned bound;
    bool parts;   /* several processes search */
    bool cut;     /* by the bound on preemptions */
    bool stopped; /* by a limit */
} round;
static volatile bool interrupted;
static double start, last_report;

/* ---- how far it is ---- */

static double clock_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void note_progress(void)
{
    progress->depth = base.length + depth;
    progress->frontier = 0;
    for (unsigned i = 0; i < depth; i++) {
        progress->frontier += frames[i].options - frames[i].chosen - 1u;
    }
    progress->processor = clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* (Not with dprintf, which allocates memory that the components' states would have.) */
static void put_line(const char *what)
{
    char line[512];
    note_progress();
    const struct progress all = parts_progress();
    const int length = snprintf(
        line, sizeof line,
        "{\"event\": \"%s\", \"states\": %" PRIu64 ", \"distinct\": %" PRIu64
        ", \"schedules\": %" PRIu64 ", \"reruns\": %" PRIu64
        ", \"bound\": %u, \"depth\": %u, \"deepest\": %u, \"frontier\": %" PRIu64
        ", \"processes\": %u, \"cut\": %s, \"stopped\": %s, \"between\": %s, \"bytes\": %zu, "
        "\"seconds\": %.3f, \"processor\": %.3f}\n",
        what, all.states, all.distinct, all.schedules, all.reruns, round.bound, all.depth,
        all.deepest, all.frontier, kernel->options.processes, round.cut ? "true" : "false",
        round.stopped ? "true" : "false", learned_between() ? "true" : "false", snapshot_bytes(),
        clock_of(CLOCK_MONOTONIC) - start, all.processor);
    if (write(STDOUT_FILENO, line, (size_t)length) != length) {
        process_exit(3);
    }
}

/* Whether the search has to stop; reports progress at intervals. */
static bool look_around(void)
{
    static const double EVERY = 0.5;
    const struct options *options = &kernel->options;
    const double now = clock_of(CLOCK_MONOTONIC);
    note_progress();
    if (parts_is_helper()) {
        return parts_stopped();
    }
    if (now - last_report >= EVERY) {
        last_report = now;
        put_line("progress");
    }
    const struct progress all = parts_progress();
    if (interrupted || visited_full(all.distinct) ||
        (options->seconds && now >= start + (double)options->seconds) ||
        (options->most_states && all.states >= options->most_states)) {
        parts_stop();
    }
    return parts_stopped();
}

static bool must_stop(void)
{
    const bool often = kernel->options.most_states || interrupted || parts_stopped();
    return (often || progress->schedules % 256 == 0) && look_around();
}

/* Whether the round need not come to its end, as another one has more points. */
static bool must_repeat(void)
{
    return round.bound == ANY && learned_grew();
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
    return round.bound == ANY ? ANY : round.bound - spent;
}

static void push(unsigned spent)
{
    struct frame *frame = &frames[depth];
    *frame = (struct frame){
        .kind = execution.kind, .options = (uint16_t)execution.options, .spent = (uint16_t)spent};
    execution_save(&frame->place);
    if (base.length + depth + 1 >= MOST_CHOICES) {
        give_up(3, "a schedule has too many choices for a search");
    }
    depth++;
}

/* A choice was reached: whether to go on from it. */
static bool enter(unsigned spent)
{
    push(spent);
    progress->states++;
    struct digest whole = frames[depth - 1].place.whole;
    if (round.bound != ANY && kernel->last) {
        whole.low += kernel->last->number + 1; /* which one goes on without a preemption */
    }
    if (!visited_add(whole, left(spent))) {
        depth--;
        return false;
    }
    const unsigned length = base.length + depth;
    progress->deepest = length > progress->deepest ? length : progress->deepest;
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
        if (round.bound != ANY && *spent > round.bound) {
            round.cut = true;
            continue;
        }
        frame->chosen++;
        execution_go_back(&frame->place);
        return true;
    }
    return false;
}

/* The choices before a frame. */
static unsigned write_choices(uint16_t *choices, unsigned before)
{
    for (unsigned i = 0; i < base.length; i++) {
        choices[i] = base.choices[i];
    }
    for (unsigned i = 0; i < before; i++) {
        choices[base.length + i] = frames[i].chosen;
    }
    return base.length + before;
}

/* What is left of the first choice that has options left goes to another process. */
static void give_part(void)
{
    for (unsigned i = 0; i < depth && base.length + i <= MOST_OF_PART; i++) {
        struct frame *frame = &frames[i];
        if (frame->chosen + 1 < frame->options) {
            struct part part = {.first = frame->chosen + 1u};
            part.length = write_choices(part.choices, i);
            frame->options = frame->chosen + 1;
            parts_give(&part);
            return;
        }
    }
}

/* Goes on with a part of another process; false: all have come to the end. */
static bool take_part(void)
{
    enum parts found = PARTS_OVER;
    while (round.parts && (found = parts_take(&base)) == PARTS_NONE_YET) {
        if (look_around() || must_repeat()) {
            return false;
        }
    }
    if (found == PARTS_OVER) {
        return false;
    }
    enum event event = execution_begin();
    for (unsigned i = 0; i < base.length && event == EVENT_CHOICE; i++) {
        event = execution_resume(base.choices[i]);
    }
    if (event != EVENT_CHOICE || execution.options <= base.first) {
        give_up(3, "a schedule does not repeat: components depend on something outside of it");
    }
    push(0);
    frames[0].chosen = (uint16_t)(base.first - 1);
    return true;
}

/* From an event to the end of what is to be searched. True: a violation was found. */
static bool search_from(enum event event)
{
    unsigned spent = 0;
    for (;;) {
        if (event == EVENT_VIOLATION) {
            execution.length = write_choices(execution.choices, depth);
            return true;
        }
        if (event == EVENT_CHOICE && enter(spent)) {
            event = execution_resume(0);
            continue;
        }
        progress->schedules++;
        if (must_stop() || must_repeat()) {
            return false;
        }
        if (round.parts && parts_wanted()) {
            give_part();
        }
        while (!go_on(&spent)) {
            if (!take_part()) {
                return false;
            }
        }
        event = execution_resume(frames[depth - 1].chosen);
    }
}

/* All schedules with at most round.bound preemptions. True: a violation was found. */
static bool search_depth_first(void)
{
    depth = base.length = 0;
    round.cut = false;
    visited_forget();
    return search_from(execution_begin());
}

/* The same by several processes. Which of them finds a violation depends on their speeds, so one
 * process looks for the first again; if there is no time for that, any will do. */
static bool search_in_parts(void)
{
    const struct progress before = *progress;
    depth = base.length = 0;
    round.cut = false;
    round.parts = true;
    visited_forget();
    parts_start();
    if (search_from(execution_begin())) {
        parts_found(execution.choices, execution.length);
    }
    round.parts = false;
    parts_join();
    const unsigned length = parts_violation(execution.choices);
    if (length == 0) {
        return false;
    }
    parts_end();
    parts_alone();
    *progress = before;
    return search_depth_first() || execution_violates(execution.choices, length, 0);
}

/* All schedules of a round, with points at accesses to all words that threads share. True: a
 * violation was found. */
static bool search_round(void)
{
    const bool in_parts = round.bound == ANY && kernel->options.processes > 1;
    for (;;) {
        const struct progress before = *progress;
        if (in_parts ? search_in_parts() : search_depth_first()) {
            return true;
        }
        if (parts_stopped() || !learned_grew()) {
            return false;
        }
        learned_next_round();
        *progress = before;
    }
}

/* With few preemptions first: a violation is the simplest then. */
static bool search_all(void)
{
    static const unsigned STEPS[] = {1, ANY};
    const unsigned most = kernel->options.bound < ANY ? kernel->options.bound : ANY;
    learned_begin();
    for (unsigned i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        round.bound = STEPS[i] < most ? STEPS[i] : most;
        if (search_round()) {
            return true;
        }
        if (!round.cut || parts_stopped() || round.bound == most) {
            return false;
        }
    }
    return false;
}

/* ---- schedules at random ---- */

static uint64_t random_state;

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
    unsigned made = 0;
    enum event event = execution_begin();
    while (event == EVENT_CHOICE && made < MOST_CHOICES) {
        bool change = execution.kind == CAMKES_CHOICE_FIRST ||
                      execution.kind == CAMKES_CHOICE_DURATION ||
                      execution.kind == CAMKES_CHOICE_JITTER;
        for (unsigned i = 0; i < changes; i++) {
            change = change || places[i] == made;
        }
        change = change || (many && next_random() % 8 == 0);
        struct place place;
        execution_save(&place);
        progress->states++;
        visited_add(place.whole, 0);
        const unsigned answer = change ? (unsigned)(next_random() % execution.options) : 0;
        execution.choices[made++] = (uint16_t)answer;
        event = execution_resume(answer);
    }
    execution.length = made;
    progress->deepest = made > progress->deepest ? made : progress->deepest;
    return event == EVENT_VIOLATION;
}

/* The schedule of this number is the same whichever process runs it. */
static bool run_random_schedule(uint64_t number, unsigned length)
{
    random_state = kernel->options.seed;
    random_state = next_random() + number;
    random_state = next_random();
    return run_at_random(length);
}

/* The first of them that violates a property, by all processes. */
static bool search_at_random(void)
{
    round.bound = ANY;
    round.cut = true;
    execution_violates(NULL, 0, 0); /* the usual length of a schedule */
    const unsigned length = execution.length;
    uint64_t number;
    while (!must_stop() && (number = parts_next_schedule()) < kernel->options.schedules &&
           number < parts_first_violation()) {
        if (run_random_schedule(number, length)) {
            parts_schedule_violates(number);
        }
        progress->schedules++;
    }
    struct part none;
    while (kernel->options.processes > 1 && parts_take(&none) == PARTS_NONE_YET) {
        look_around();
    }
    number = parts_first_violation();
    return !parts_is_helper() && number < UINT64_MAX && run_random_schedule(number, length);
}

/* ---- the whole ---- */

/* One schedule, whose choices are known. */
static bool search_script(void)
{
    progress->schedules = 1;
    return execution_repeats(kernel->script, kernel->script_length);
}

static bool search(void)
{
    if (kernel->options.choices == CHOICES_SCRIPT) {
        return search_script();
    }
    if (kernel->options.schedules) {
        parts_start();
        return search_at_random();
    }
    return search_all();
}

/* What the processes beside the first do. */
static _Noreturn void help(void)
{
    round.bound = ANY;
    round.parts = true;
    unsigned spent;
    if (kernel->options.schedules) {
        search_at_random();
        note_progress();
        process_exit(0);
    }
    while (parts_await_round()) {
        *progress = (struct progress){0};
        depth = base.length = 0;
        if (take_part() && go_on(&spent) &&
            search_from(execution_resume(frames[depth - 1].chosen))) {
            parts_found(execution.choices, execution.length);
        }
        note_progress();
        parts_join();
    }
    process_exit(0);
}

/* By a signal: the search ends with what it has. */
void search_interrupt(void)
{
    interrupted = true;
}

/* Before anything else: the processes and what they share. The number of this one. */
unsigned search_fork(const struct options *options)
{
#ifdef CAMKES_SANITIZED
    give_up(2, "there is no search with the sanitizers");
#endif
    visited_initialise();
    learned_initialise();
    return parts_initialise(options->processes);
}

/* Before components are loaded: space for what they allocate while they run. */
void search_prepare(const char *table)
{
    mallopt(M_TOP_PAD, 4 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    pages_map_regions();
    oracle_read(table);
    if (oracle_system.thread_count != kernel->thread_count) {
        give_up(2, "%s is not about the threads of this system", table);
    }
    oracle_system.timed = oracle_system.planned = !kernel->options.arrivals;
    oracle_system.search = true;
    oracle_initialise();
    if (kernel->slot_count > 0) {
        oracle->domain = kernel->slots[kernel->slot].domain;
    }
    outcome_initialise();
}

_Noreturn void search_run(void)
{
    start = clock_of(CLOCK_MONOTONIC);
    execution_initialise();
    frames = pages_reserve(MOST_CHOICES * sizeof *frames);
    if (parts_is_helper()) {
        help();
    }
    const bool found = search();
    round.stopped = !found && parts_stopped();
    if (found && kernel->options.choices != CHOICES_SCRIPT) {
        execution_make_smaller();
        execution_make_complete();
    }
    if (found) {
        execution_put_violation();
    }
    put_line("end");
    parts_end();
    process_exit(found ? 1 : 0);
}
