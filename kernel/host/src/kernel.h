/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The state of the host kernel and the functions its files give each other.
 *
 * `kernel` points to shared memory that is mapped at the same address in every process, so pointers
 * between its parts mean the same everywhere. `process` belongs to one process.
 */
#pragma once

#include "memory.h"

#include <camkes/host.h>
#include <camkes/trace.h>
#include <sel4/sel4.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    PRIORITIES = 256,
    NONE = 65535,        /* no thread, no object: in traces and links */
    LINE_LENGTH = 512,   /* a longer line of output is cut in pieces */
    STATUS_DAMAGED = 4,  /* exit status of a process that found the kernel's memory overwritten */
    STATUS_MISLED = 5,   /* the same, of one that such damage woke: another process did it */
    HANDOVER_RUNNER = 0, /* who has control: the runner, or 1 + the number of a space */
};

enum right {
    RIGHT_WRITE = 1,
    RIGHT_READ = 2,
    RIGHT_GRANT = 4,
    RIGHT_GRANT_REPLY = 8,
};

/* ---- objects and capabilities ---- */

enum object_kind {
    OBJECT_NOTHING, /* of an empty slot */
    OBJECT_ENDPOINT,
    OBJECT_NOTIFICATION,
    OBJECT_TCB,
    OBJECT_TIMER,
    OBJECT_REGION,
    OBJECT_CNODE,
    OBJECT_REPLY, /* only of capabilities: `thread` waits for this reply */
};

struct thread;
struct object;

struct cap {
    enum object_kind kind;
    uint8_t rights;
    uint64_t badge;
    union {
        struct object *object;
        struct thread *thread;
    };
};

struct queue {
    struct thread *head, *tail;
};

enum endpoint_state { ENDPOINT_IDLE, ENDPOINT_SEND, ENDPOINT_RECV };

struct endpoint {
    enum endpoint_state state;
    struct queue queue;
};

struct notification {
    bool active;
    uint64_t word; /* if active */
    struct queue queue;
};

struct timer {
    struct object *notification;
    uint64_t badge;
    uint64_t due;    /* when it fires next */
    uint64_t period; /* 0: once */
    uint64_t jitter; /* it may fire so much later than it should */
    uint64_t delay;  /* how much later `due` is than it should be */
    uint64_t expirations;
    bool armed;
    bool decided;   /* the delay of this expiry is chosen */
    unsigned place; /* in the heap, if armed */
};

struct region {
    uint64_t size; /* a multiple of the page size */
    off_t offset;  /* in the memory file */
};

struct object {
    unsigned number;
    const char *name;
    enum object_kind kind;
    union {
        struct endpoint endpoint;
        struct notification notification;
        struct timer timer;
        struct region region;
        struct thread *thread; /* of a TCB */
    };
};

/* ---- address spaces and threads ---- */

struct mapping {
    const char *symbol;
    struct object *region;
    uint8_t rights;
};

/* Output on its way to the runner, which alone has descriptors to write it to. */
enum { STREAM_SIZE = 64 * 1024 };

struct stream {
    _Atomic size_t written, read; /* all bytes since boot */
    char data[STREAM_SIZE];
};

struct space {
    unsigned number;
    const char *name;
    const char *image;
    struct cap *slots;
    seL4_Word slot_count; /* a power of two */
    struct mapping *mappings;
    unsigned mapping_count;
    void (*entry)(unsigned); /* valid in its own process, as what follows */
    uint64_t base;           /* where the image is */
    uint64_t text, text_end; /* its code */
    void *storage;           /* its thread-local variables */
    size_t storage_size;
    _Atomic uint32_t baton; /* 1: control was handed to this process */
    _Atomic bool dead;
    _Atomic bool blocked; /* it was killed because it did not react */
    int death;            /* wait status */
    pid_t pid;
};

enum thread_state {
    THREAD_INACTIVE,
    THREAD_RUNNING, /* or ready */
    THREAD_BLOCKED_SEND,
    THREAD_BLOCKED_RECV,
    THREAD_BLOCKED_REPLY,
    THREAD_BLOCKED_NOTIFICATION,
};

enum { FAULT_FRAMES = 32 };

struct fault {
    enum camkes_fault kind; /* 0: none */
    uint64_t address, pc, sp;
    uint64_t offset; /* of pc in its module */
    char module[128];
    char library[64]; /* the function outside the image that was called there, "": none */
    unsigned frame_count;
    uint64_t frames[FAULT_FRAMES]; /* calls in the image, innermost first: offsets in it */
    seL4_Word label;               /* the message for a fault handler */
    unsigned length;
    seL4_Word message[7];
};

/* A fault that nobody handled, as it is reported at the end. */
struct report {
    uint64_t time;
    const struct thread *thread;
    const struct thread *cause; /* who ended the component, NULL: nobody */
    struct fault fault;
    char finding[128]; /* of a sanitizer, in words; "": it is a fault */
    char text[4096];   /* and its own report */
};

struct thread {
    void *sp; /* where its registers are saved */
    seL4_IPCBuffer *ipc;
    struct space *space;
    unsigned number;
    struct object *tcb;
    const char *instance;
    unsigned index; /* in its address space */
    uint8_t priority, max_priority;
    enum thread_state state;
    bool queued; /* in a ready queue */
    bool redo;   /* it was taken out of a kernel operation and starts that again */
    bool is_call, can_grant, can_grant_reply; /* of the message it sends; the receiver's grant */
    uint64_t badge;                           /* of the message it sends or has received */
    struct object *waits_for;
    struct thread *ready_next, *ready_previous;
    struct thread *wait_next, *wait_previous;
    struct cap caller;      /* the reply capability it got with the last call */
    struct cap *reply_slot; /* where the capability to reply to this thread is */
    seL4_CPtr fault_slot;   /* 0: none */
    struct fault fault;
    uint64_t work;  /* processor time it still wants */
    uint64_t slice; /* processor time to the end of its time slice */
    uint64_t stack_size;
    int exit_status;
    char *guard, *stack, *stack_top;
    char *fault_stack, *fault_stack_top; /* where its faults are handled */
    uint64_t called_from;                /* by the kernel operation under way */
    struct registers *interrupted;       /* at a fault, see signals.c */
    void *storage;                       /* its thread-local variables while others run */
    void *fiber;                         /* for the address sanitizer */
    unsigned notes;                      /* remarks made about it */
    unsigned line_length;
    char line[LINE_LENGTH]; /* output without its newline yet */
};

/* ---- the kernel ---- */

enum choice_mode { CHOICES_FIRST, CHOICES_RANDOM, CHOICES_SCRIPT };

struct options {
    const char *table, *trace;
    uint64_t until; /* UINT64_MAX: for ever */
    bool fast, round_robin;
    uint64_t timeslice;
    enum choice_mode choices;
    uint64_t seed;
    const char *script;
    unsigned loop_limit;  /* milliseconds */
    int faults;           /* the descriptor that faults are reported to, -1: standard error */
    uint64_t call_limit;  /* kernel operations at one instant */
    uint64_t timeout;     /* milliseconds without progress, 0: for ever */
    uint64_t memory;      /* bytes that a component may have, 0: any number */
    uint64_t trace_limit; /* bytes */
    pid_t parent;         /* the run ends with this process, 0: with none */
    bool hardened;        /* the kernel's memory is read-only while components run */
};

enum action { ACTION_RESUME, ACTION_CHOOSE, ACTION_SWITCH };

struct kernel {
    uint64_t magic; /* see memory.c */
    /* touched by every kernel operation */
    struct thread *current;   /* NULL: idle */
    struct thread *candidate; /* with ACTION_SWITCH */
    enum action action;
    _Atomic bool inside; /* kernel code runs */
    _Atomic bool stop;   /* somebody asked the run to end */
    uint64_t entries;    /* so that a loop without any can be seen */
    uint64_t calls;      /* since time last passed */
    uint64_t now;
    uint64_t last_poll, vain_polls; /* see time.c */
    struct thread *shown;           /* who runs, according to the trace */
    struct thread *last;            /* who ran last */
    uint64_t ready_bitmap[PRIORITIES / 64];
    struct queue ready[PRIORITIES];

    struct options options;
    struct object *objects;
    struct thread *threads;
    struct space *spaces;
    unsigned object_count, thread_count, space_count;

    struct object **heap; /* armed timers, the first to fire on top */
    unsigned heap_size;

    uint64_t random;
    unsigned *script;
    unsigned script_length, script_next;

    struct report *reports; /* if they have a descriptor */
    unsigned report_count, reports_lost;

    int trace_fd; /* -1: no trace */
    char *trace_buffer;
    size_t trace_used;
    uint64_t trace_written; /* to the file */

    struct stream console, messages;
    struct space *asker; /* who waits for the runner to write */

    _Atomic uint32_t owner; /* see HANDOVER_RUNNER */
    _Atomic uint32_t runner_baton;
    bool booted;
    bool ended;
    bool faulted;
    int status; /* exit status, if the run failed */
    char boot_line[LINE_LENGTH];
    unsigned boot_line_length;
    int memory_file; /* shared regions */
    bool unconfined; /* a part of confine.c is not there, which was said */
    char *stacks;    /* addresses for those of all threads */
    uint64_t magic_at_end;
};

struct process {
    struct space *space;   /* NULL: the runner; with --fast, it has all spaces */
    struct thread *loaded; /* whose stack is in use; NULL: the first stack */
    void *first_sp;
    void *first_fiber, *first_stack; /* for the address sanitizer */
    size_t first_stack_size;
    unsigned strikes;
    bool resumes; /* a thread goes on after a fault that was answered */
    bool polls;   /* the thread that runs, it was found */
    uint64_t entries_seen;
    int maps;  /* the descriptor of the list of its memory */
    bool open; /* with --hardened: the kernel's memory can be written, so kernel code runs */
};

extern struct kernel *kernel;
extern struct process process;

/* table.c */
void table_read(const char *path);

/* space.c */
void space_load(struct space *space);

/* handover.c */
bool handover_to(struct space *space);
void handover_wait(void);
_Noreturn void handover_finish(void);
void handover_back(void);
void handover_write(void);
void handover_note(pid_t pid, const char *name);
void handover_initialise(void);
const char *handover_name(unsigned number);
void handover_reap(void);

/* entry.c, thread.c */
struct thread *kernel_enter(enum camkes_kcall operation, seL4_CPtr slot);
struct thread *kernel_enter_quietly(void);
bool kernel_leave(struct thread *self);
void kernel_go(void);
void kernel_end(enum camkes_end reason);
void kernel_initialise_stack(void);
void kernel_arrive(void);
void kernel_arrive_at_fault(struct thread *self);
void kernel_leave_fault(struct thread *self);
void thread_reserve_stacks(void);
void thread_create(struct thread *thread);

/* storage.c */
void storage_find(struct space *space, void *image, size_t size);
void storage_create(struct thread *thread);
void storage_switch(struct thread *from, struct thread *to);

/* schedule.c */
void schedule(void);
void schedule_set_state(struct thread *thread, enum thread_state state);
void schedule_append(struct thread *thread);
void schedule_remove(struct thread *thread);
void schedule_wake(struct thread *thread);
void schedule_again(void);
bool schedule_has_equal(const struct thread *thread);
void schedule_end_slice(void);
void schedule_set_priority(struct thread *thread, uint8_t priority);

/* queue.c */
void queue_append(struct queue *queue, struct thread *thread);
void queue_remove(struct queue *queue, struct thread *thread);

/* endpoint.c */
void endpoint_send(struct thread *sender, struct object *object, const struct cap *cap,
                   bool blocking, bool call);
void endpoint_receive(struct thread *receiver, struct object *object, const struct cap *cap,
                      bool blocking);
void endpoint_reply(struct thread *sender, struct cap *cap);
void endpoint_cancel(struct thread *thread);

/* notification.c */
void notification_signal(struct object *object, uint64_t badge, struct thread *by);
bool notification_wait(struct thread *thread, struct object *object, bool blocking);
void notification_cancel(struct thread *thread);

/* cap.c */
struct cap *cap_find(struct thread *thread, seL4_CPtr slot);
unsigned cap_object_number(struct thread *thread, seL4_CPtr slot);
void cap_clear(struct cap *cap);
void cap_move_reply(struct cap *to, struct cap *from);
void cap_note(struct thread *thread, const char *what, seL4_CPtr slot);

/* tcb.c */
void tcb_cancel(struct thread *thread);
void tcb_stop(struct thread *thread);

/* report.c */
void report_initialise(void);
void report_fault(const struct thread *thread, const struct thread *cause);
void report_finding(const struct thread *thread, const char *what, const char *text);
void report_write(void);

/* sanitizers.c */
void sanitizers_initialise(void);

/* fault.c */
void fault_raise(struct thread *thread);
void fault_capability(struct thread *thread, seL4_CPtr slot, bool receiving);
void fault_silent_loop(struct thread *thread);
void fault_space(struct space *space, enum camkes_fault kind, uint64_t detail,
                 const struct thread *cause);

/* signals.c */
enum { SIGNAL_RESUME = SIGUSR2, SIGNAL_BLOCKED = SIGUSR1 };
void signals_initialise(void);
struct registers *registers_take(void);
void signals_blocked(int number, siginfo_t *signal, void *context);

/* polling.c */
void polling_initialise(void);
bool polling_digest(const void *registers, size_t size, uint64_t *digest);

/* backtrace.c */
const char *last_part(const char *path);
bool in_image(const struct space *space, uint64_t address);
void backtrace_take(struct thread *thread, uint64_t from, bool exact);
void backtrace_broken(void);

/* locate.c */
void locate(struct thread *thread, uint64_t pc, uint64_t sp);

/* ending.c */
_Noreturn void process_exit(int status);

/* timer.c */
uint64_t timer_next(void);
bool timer_fire_due(void);
void timer_fire_early(void);
bool timer_can_fire_early(void);
void timer_arm(struct object *object, uint64_t first, uint64_t period);

/* time.c */
void time_consume(struct thread *self, uint64_t ns);
void time_skip(void);
bool time_poll(struct thread *self);

/* trace.c */
void trace_open(const char *path);
void trace_write(uint16_t kind, const struct thread *thread, const struct thread *other, unsigned n,
                 const uint64_t *args);
void trace_flush(void);
void trace_output(const struct thread *thread, const char *text, size_t length);
#define TRACE(kind, thread, other, ...)                                                            \
    do {                                                                                           \
        if (kernel->trace_fd >= 0) {                                                               \
            const uint64_t args_[] = {__VA_ARGS__};                                                \
            trace_write(CAMKES_TRACE_##kind, thread, other, sizeof args_ / sizeof *args_, args_);  \
        }                                                                                          \
    } while (0)
#define TRACE_PLAIN(kind, thread, other)                                                           \
    do {                                                                                           \
        if (kernel->trace_fd >= 0) {                                                               \
            trace_write(CAMKES_TRACE_##kind, thread, other, 0, NULL);                              \
        }                                                                                          \
    } while (0)

/* stream.c */
struct message {
    size_t length; /* without the final 0 */
    char text[1024];
};
void message_add(struct message *message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void stream_put(struct stream *stream, const char *text, size_t length);
void stream_write(void);

/* confine.c */
void confine_loading(void);
void confine_running(void);
bool confine_knows(unsigned machine, int call);

/* calls.c */
const char *call_name(uint64_t number);

/* watch.c */
enum { WATCH_TICK = 50 /* milliseconds */ };
void watch_initialise(void);
void watch_look(void);
void watch_parent(pid_t parent);

/* console.c */
void console_redirect(void);
void console_print(const char *text, size_t length);
void console_put(struct thread *thread, const char *text, size_t length);
void console_flush(void);

/* choice.c */
unsigned choose(enum camkes_choice kind, unsigned options);
void choice_initialise(void);

/* complain.c */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void give_up(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* context_*.S */
void context_swap(void **save, void *load);
void *context_make(void *stack_top, void (*entry)(void));
