/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: instance "logger" (system.camkes:19). */
#include <camkes.h>
#include <camkes/event.h>
#include <camkes/instance.h>
#include <camkes/message.h>
#include <camkes/request.h>
#include <camkes/semaphore.h>
#include <camkes/serve.h>
#include <camkes/task.h>
#include <camkes/timer.h>
#include <limits.h>

static struct camkes_start camkes__start = {
    .gate = 8,
    .ready = 9,
    .interfaces = 2,
};
static const struct camkes_instance camkes__instance = {
    .name = "logger",
    .start = &camkes__start,
};
struct camkes_thread camkes_instance_logger__control;
struct camkes_thread camkes_instance_logger__log;
struct camkes_thread camkes_instance_logger__done;

const char *get_instance_name(void)
{
    return camkes__instance.name;
}

int get_instance_affinity(void)
{
    return 0;
}
const int depth = 4;

/* provides Log log: system.camkes:11 */
static camkes_error_handler_t log__error_handler;

camkes_error_handler_t log_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = log__error_handler;
    log__error_handler = handler;
    return before;
}

/* consumes Done done: system.camkes:11 */
static camkes_error_handler_t done__error_handler;

camkes_error_handler_t done_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = done__error_handler;
    done__error_handler = handler;
    return before;
}

int log__run(void) __attribute__((weak));

int done__run(void) __attribute__((weak));

/* has mutex lock: system.camkes:11 */
static struct camkes_semaphore lock__semaphore = {
    .notification = 7,
    .value = 1,
};

int lock_lock(void)
{
    return camkes_semaphore_wait(&lock__semaphore);
}

int lock_unlock(void)
{
    return camkes_semaphore_post(&lock__semaphore, 1);
}

dataport_ptr_t dataport_wrap_ptr(void *pointer)
{
    dataport_ptr_t wrapped = {.id = -1};
    (void)pointer;
    return wrapped;
}

void *dataport_unwrap_ptr(dataport_ptr_t pointer)
{
    (void)pointer;
    return NULL;
}

/* consumes done: system.camkes:21 */

seL4_CPtr done_notification(void)
{
    return 5;
}

static struct camkes_event done__event = {
    .interface = {.init = done__init},
    .notification = 5,
    .handoff = {.notification = 6},
};

void done_wait(void)
{
    camkes_event_wait(&done__event);
}

int done_poll(void)
{
    return camkes_semaphore_trywait(&done__event.handoff) == 0;
}

int done_reg_callback(void (*callback)(void *), void *argument)
{
    return camkes_event_register(&done__event, callback, argument);
}

/* provides log: system.camkes:20 */
static struct camkes_sender log__senders[] = {
    {.id = 1, .name = "client.log"},
};
static const struct camkes_place log__place = {
    .instance = "logger",
    .interface = "log",
    .handler = &log__error_handler,
    .sender = log__senders,
    .senders = 1,
};

seL4_Word log_get_sender_id(void)
{
    return camkes_sender_id(camkes_self());
}

/* system.camkes:7 */
static void log__serve_line(struct camkes_thread *self, struct camkes_received *request)
{
    camkes_registers_to_buffer(&request->registers);
    struct camkes_message message = camkes_message_received(request->words);
    struct camkes_scratch scratch;
    scratch.used = 0;
    const char *text = camkes_view_string(&message, &scratch);
    camkes_message_end(&message);
    unsigned error = camkes_message_accepted(&message, &log__place, "line") ? CAMKES_MESSAGE_GOOD : message.error;
    if (CAMKES_UNLIKELY(error != CAMKES_MESSAGE_GOOD)) {
        camkes_reply_refused(self, request, &log__place, error);
        return;
    }
    log_line(text);
    const struct camkes_layout answered = camkes_layout(0, 0);
    struct camkes_registers registers = {{0}};
    struct camkes_message reply = camkes_message_new(CAMKES_IS_SHORT(answered.bytes) ? &registers : NULL, answered.unit);
    if (!camkes_message_good(&reply, &log__place, "line")) {
        camkes_reply_empty(self, request, camkes_message_none());
        return;
    }
    if (!CAMKES_IS_SHORT(answered.bytes)) {
        camkes_registers_from_buffer(&registers);
    }
    camkes_reply(self, request, camkes_message_info(&reply), &registers);
}

static void log__serve(struct camkes_thread *self, struct camkes_received *request)
{
    log__serve_line(self, request);
}

/* What its threads do. */
static void log__loop(struct camkes_thread *self)
{
    const struct camkes_lengths usual = {.most = seL4_MsgMaxLength};
    camkes_serve_plain(self, log__serve, usual);
}

static struct camkes_interface log__interface __attribute__((unused)) = {
    .init = log__init,
    .run = log__run,
};

static struct camkes_interface done__interface __attribute__((unused)) = {
    .init = done__init,
    .run = done__run,
};

/* run(), from a release on. */
static void camkes__jobs(struct camkes_thread *self)
{
    (void)self;
}

static void camkes__control(struct camkes_thread *self)
{
    if (pre_init) {
        pre_init();
    }
    camkes_start_interfaces(&camkes__instance);
    if (post_init) {
        post_init();
    }
    camkes_start_open(&camkes__instance);
    camkes__jobs(self);
}

/* control, priority 254 */
struct camkes_thread camkes_instance_logger__control = {
    .name = "logger",
    .instance = &camkes__instance,
    .number = 7,
    .priority = 254,
    .tcb = 1,
    .start = camkes__control,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .label = CAMKES_LABEL_NONE,
};

/* interface, priority 254 */
struct camkes_thread camkes_instance_logger__log = {
    .name = "logger.log",
    .instance = &camkes__instance,
    .number = 8,
    .priority = 254,
    .tcb = 2,
    .start = log__loop,
    .interface = &log__interface,
    .endpoint = 4,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .label = CAMKES_LABEL_NONE,
};

/* interface, priority 254 */
struct camkes_thread camkes_instance_logger__done = {
    .name = "logger.done",
    .instance = &camkes__instance,
    .number = 9,
    .priority = 254,
    .tcb = 3,
    .start = camkes_serve_event,
    .interface = &done__event,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .label = CAMKES_LABEL_NONE,
};

/* The threads of the address space, by number. */
extern struct camkes_thread camkes_instance_logger__control;
extern struct camkes_thread camkes_instance_logger__log;
extern struct camkes_thread camkes_instance_logger__done;

struct camkes_thread *const camkes_threads[] = {
    &camkes_instance_logger__control, /* logger */
    &camkes_instance_logger__log, /* logger.log */
    &camkes_instance_logger__done, /* logger.done */
};
const unsigned camkes_thread_count = 3;
