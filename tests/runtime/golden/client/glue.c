/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: instance "client" (system.camkes:18). */
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
    .gate = 0,
    .ready = 0,
    .interfaces = 0,
};
static const struct camkes_instance camkes__instance = {
    .name = "client",
    .start = &camkes__start,
};
struct camkes_thread camkes_instance_client__control;

const char *get_instance_name(void)
{
    return camkes__instance.name;
}

int get_instance_affinity(void)
{
    return 0;
}

/* uses Log log: system.camkes:10 */
static camkes_error_handler_t log__error_handler;

camkes_error_handler_t log_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = log__error_handler;
    log__error_handler = handler;
    return before;
}

/* emits Done done: system.camkes:10 */
static camkes_error_handler_t done__error_handler;

camkes_error_handler_t done_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = done__error_handler;
    done__error_handler = handler;
    return before;
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

/* emits done: system.camkes:21 */

void done_emit(void)
{
    seL4_Signal(3);
}

/* uses log, served by logger.log: system.camkes:20 */
static const struct camkes_place log__place = {
    .instance = "client",
    .interface = "log",
    .handler = &log__error_handler,
    .server = "logger.log",
};

/* system.camkes:7 */
void log_line(const char *text)
{
    const struct camkes_layout answered = camkes_layout(0, 0);
    struct camkes_message message = camkes_message_new(NULL, 1);
    camkes_put_string(&message, text);
    if (!camkes_message_good(&message, &log__place, "line")) {
        return;
    }
    const seL4_MessageInfo_t reply = camkes_call(2, 0, NULL, camkes_message_words(&message));
    if (!camkes_reply_good(reply, answered)) {
        (void)camkes_reply_failed(&log__place, reply, answered.bytes, "line");
        return;
    }
}

/* run(), from a release on. */
static void camkes__jobs(struct camkes_thread *self)
{
    (void)self;
    const int status = run();
    camkes_exit_status(status);
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
struct camkes_thread camkes_instance_client__control = {
    .name = "client",
    .instance = &camkes__instance,
    .number = 6,
    .priority = 254,
    .tcb = 1,
    .start = camkes__control,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .label = CAMKES_LABEL_NONE,
};

/* The threads of the address space, by number. */
extern struct camkes_thread camkes_instance_client__control;

struct camkes_thread *const camkes_threads[] = {
    &camkes_instance_client__control, /* client */
};
const unsigned camkes_thread_count = 1;
