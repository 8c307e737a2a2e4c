/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * A serial line that is the console. Lines of clients are printed whole. What comes from outside
 * comes at the rate of a serial line, and goes to one client: to the first one, or to that of
 * `@NUMBER` at the beginning of a line.
 */
#include "../../must.h"
#include "lines.h"

#include <camkes.h>
#include <camkes/host.h>

/* Templates of connectors define these, where they are connected. */
seL4_Word processed_putchar_get_sender_id(void) __attribute__((weak));
seL4_Word raw_putchar_get_sender_id(void) __attribute__((weak));
seL4_Word processed_batch_get_sender_id(void) __attribute__((weak));
void *processed_batch_buf(seL4_Word badge) __attribute__((weak));
seL4_Word raw_batch_get_sender_id(void) __attribute__((weak));
void *raw_batch_buf(seL4_Word badge) __attribute__((weak));
void getchar_emit(unsigned int badge) __attribute__((weak));
unsigned int getchar_num_badges(void) __attribute__((weak));
seL4_Word getchar_enumerate_badge(unsigned int number) __attribute__((weak));
void *getchar_buf(seL4_Word badge) __attribute__((weak));

void processed_putchar_putchar(int character);
void raw_putchar_putchar(int character);
void processed_batch_batch(void);
void raw_batch_batch(void);
void getchar_foo(void);

enum { MOST_LINES = 32, LONGEST = 256 };
static const uint64_t NEVER = UINT64_MAX;
static const uint64_t CHARACTER = 86806;             /* ns of ten bits at 115200 baud */
static const uint64_t UNFINISHED = 20 * 1000 * 1000; /* ns until a part of a line is printed */

/* What a client has printed, up to the end of a line. */
struct line {
    enum stream stream;
    uintptr_t client;
    unsigned length;
    uint64_t since; /* the last of it was printed */
    char text[LONGEST + 1];
};

static struct line lines[MOST_LINES];
static unsigned line_count;

/* What a client of `getchar` or `batch` shares with the server. */
struct ring {
    uint32_t head; /* the next that is taken */
    uint32_t tail; /* where the next one is put */
    char text[4096 - 2 * sizeof(uint32_t)];
};

static uint64_t next_input = NEVER;
static int waiting = -1; /* the character that comes then, -1: none comes any more */

void console_begin(void)
{
    must(console_lock() == 0);
}

void console_end(void)
{
    must(console_unlock() == 0);
}

/* ---- what clients print ---- */

static void print_line(struct line *line)
{
    if (line->text[line->length - 1] != '\n') {
        line->text[line->length++] = '\n';
    }
    camkes_host_write(line->text, line->length);
    line->length = 0;
}

static struct line *line_of(enum stream stream, uintptr_t client)
{
    for (unsigned i = 0; i < line_count; i++) {
        if (lines[i].stream == stream && lines[i].client == client) {
            return &lines[i];
        }
    }
    if (line_count == MOST_LINES) {
        return &lines[MOST_LINES - 1];
    }
    lines[line_count] = (struct line){.stream = stream, .client = client};
    return &lines[line_count++];
}

static void set_timer(void)
{
    uint64_t next = next_input;
    for (unsigned i = 0; i < line_count; i++) {
        if (lines[i].length > 0 && lines[i].since + UNFINISHED < next) {
            next = lines[i].since + UNFINISHED;
        }
    }
    if (next == NEVER) {
        device_stop(0);
    } else {
        device_oneshot_absolute(0, next);
    }
}

void console_print(enum stream stream, uintptr_t client, char character)
{
    struct line *line = line_of(stream, client);
    const bool began = line->length == 0;
    line->text[line->length++] = character;
    line->since = device_time();
    if (character == '\n' || line->length == LONGEST) {
        print_line(line);
    } else if (began) {
        set_timer();
    }
}

void processed_putchar_putchar(int character)
{
    console_begin();
    console_print(STREAM_PROCESSED, processed_putchar_get_sender_id(), (char)character);
    console_end();
}

void raw_putchar_putchar(int character)
{
    console_begin();
    console_print(STREAM_RAW, raw_putchar_get_sender_id(), (char)character);
    console_end();
}

/* Prints all that a client has put into the ring that it shares. */
static void print_ring(enum stream stream, uintptr_t client, volatile struct ring *ring)
{
    const uint32_t size = sizeof ring->text;
    uint32_t head = ring->head;
    const uint32_t tail = ring->tail;
    if (head >= size || tail >= size) {
        return; /* not what a client writes that keeps to the form of the ring */
    }
    console_begin();
    while (head != tail) {
        console_print(stream, client, ring->text[head]);
        head = (head + 1) % size;
    }
    ring->head = head;
    console_end();
}

void processed_batch_batch(void)
{
    const seL4_Word client = processed_batch_get_sender_id();
    print_ring(STREAM_PROCESSED_BATCH, client, processed_batch_buf(client));
}

void raw_batch_batch(void)
{
    const seL4_Word client = raw_batch_get_sender_id();
    print_ring(STREAM_RAW_BATCH, client, raw_batch_buf(client));
}

/* ---- what comes from outside ---- */

static void give(char character)
{
    static unsigned client;
    static enum { WITHIN, FIRST, CHOOSING } state = FIRST;
    const bool digit = character >= '0' && character <= '9';
    if (queues_give(character) || !getchar_num_badges) {
        return;
    }
    if (state == FIRST && character == '@') {
        state = CHOOSING;
        return;
    }
    if (state == CHOOSING && digit && (unsigned)(character - '0') < getchar_num_badges()) {
        client = (unsigned)(character - '0');
        state = FIRST;
        return;
    }
    state = character == '\r' ? FIRST : WITHIN;
    const seL4_Word badge = getchar_enumerate_badge(client);
    volatile struct ring *ring = getchar_buf(badge);
    const uint32_t size = sizeof ring->text, tail = ring->tail, next = (tail + 1) % size;
    if (tail < size && next != ring->head) { /* else it is lost, as on a line */
        ring->text[tail] = character;
        ring->tail = next;
        getchar_emit((unsigned int)badge);
    }
}

/* The end of a line comes as from the key of a terminal. */
static void take(void)
{
    static size_t place;
    waiting = camkes_host_input(CAMKES_INPUT_CONSOLE, place++);
    waiting = waiting == '\n' ? '\r' : waiting;
    next_input = waiting < 0 ? NEVER : device_time() + CHARACTER;
}

int run(void)
{
    console_begin();
    queues_initialise();
    take();
    set_timer();
    console_end();
    for (;;) {
        device_wait();
        console_begin();
        const uint64_t now = device_time();
        if (next_input <= now) {
            give((char)waiting);
            take();
        }
        for (unsigned i = 0; i < line_count; i++) {
            if (lines[i].length > 0 && lines[i].since + UNFINISHED <= now) {
                print_line(&lines[i]);
            }
        }
        set_timer();
        console_end();
    }
}

/* A procedure has a method; nothing calls this one. */
void getchar_foo(void)
{
}
