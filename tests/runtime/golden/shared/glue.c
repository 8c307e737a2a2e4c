/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: instance "shared" (system.camkes:16). */
#include <camkes.h>
#include <camkes/cpi.h>
#include <camkes/event.h>
#include <camkes/instance.h>
#include <camkes/message.h>
#include <camkes/semaphore.h>
#include <camkes/task.h>
#include <camkes/timer.h>
#include <limits.h>

static struct camkes_start camkes__start = {
    .gate = 12,
    .ready = 13,
    .interfaces = 0,
};
static const struct camkes_instance camkes__instance = {.name = "shared", .start = &camkes__start};
struct camkes_thread camkes_instance_shared__control;
struct camkes_thread camkes_instance_shared__store__for_high;
struct camkes_thread camkes_instance_shared__store__for_low;
struct camkes_thread camkes_instance_shared__store__manager;

const char *get_instance_name(void)
{
    return "shared";
}

int get_instance_affinity(void)
{
    return 0;
}

/* provides Store store: system.camkes:9 */
static camkes_error_handler_t store__error_handler;

camkes_error_handler_t store_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = store__error_handler;
    store__error_handler = handler;
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

/* provides store: system.camkes:17 */
static struct camkes_sender store__senders[] = {
    {.id = 1, .name = "high.store"},
    {.id = 2, .name = "low.store"},
};
static const struct camkes_place store__place = {
    .instance = "shared",
    .interface = "store",
    .handler = &store__error_handler,
    .sender = store__senders,
    .senders = 2,
};

seL4_Word store_get_sender_id(void)
{
    return camkes_self()->sender_id;
}

/* system.camkes:4 */
static seL4_MessageInfo_t store__serve_put(struct camkes_thread *self, struct camkes_message *message)
{
    struct camkes_scratch scratch;
    scratch.used = 0;
    const char *key = camkes_view_string(message, &scratch);
    size_t values_sz = 0;
    const int *values =
        camkes_view_array(message, &scratch, &values_sz, sizeof(int));
    const bool good = camkes_message_ends(message) || camkes_message_ignored(message, &store__place, "put");
    if (!good || !camkes_begin_request(self, message)) {
        return camkes_refuse(self, &store__place, message->error);
    }
    int result = store_put(key, values_sz, values);
    struct camkes_message reply = camkes_message_new();
    camkes_put(&reply, &result, sizeof(int));
    camkes_end_request(self);
    return camkes_message_good(&reply, &store__place, "put")
               ? camkes_message_info(&reply)
               : camkes_message_none();
}

/* system.camkes:5 */
static seL4_MessageInfo_t store__serve_get(struct camkes_thread *self, struct camkes_message *message)
{
    struct camkes_scratch scratch;
    scratch.used = 0;
    const char *key = camkes_view_string(message, &scratch);
    char *value = NULL;
    int count = {0};
    camkes_get(message, &count, sizeof(int));
    const bool good = camkes_message_ends(message) || camkes_message_ignored(message, &store__place, "get");
    if (!good || !camkes_begin_request(self, message)) {
        free(value);
        return camkes_refuse(self, &store__place, message->error);
    }
    store_get(key, &value, &count);
    struct camkes_message reply = camkes_message_new();
    camkes_put_string(&reply, value);
    camkes_put(&reply, &count, sizeof(int));
    free(value);
    camkes_end_request(self);
    return camkes_message_good(&reply, &store__place, "get")
               ? camkes_message_info(&reply)
               : camkes_message_none();
}

static seL4_MessageInfo_t store__serve(struct camkes_thread *self, unsigned words)
{
    struct camkes_message message = camkes_message_received(words);
    uint8_t method = 0;
    camkes_get(&message, &method, sizeof method);
    if (message.error == CAMKES_MESSAGE_GOOD) {
        switch (method) {
        case 0:
            return store__serve_put(self, &message);
        case 1:
            return store__serve_get(self, &message);
        default:
            break;
        }
    }
    return camkes_message_no_method(self, &message, &store__place, method, 2);
}

/* The contexts of its requests, and the callers that may send them. */
static struct camkes_context store__contexts[] = {
    {
        .name = "high",
        .id = 0,
        .route = 0,
        .base = 30,
        .request = 30,
        .effective = 30,
        .reply = 10,
        .manager_as_worker = 8,
        .worker = &camkes_instance_shared__store__for_high,
    },
    {
        .name = "low",
        .id = 1,
        .route = 1,
        .base = 10,
        .request = 10,
        .effective = 10,
        .reply = 11,
        .manager_as_worker = 9,
        .worker = &camkes_instance_shared__store__for_low,
    },
};
static const struct camkes_caller store__callers[] = {
    { /* high through high.store */
        .sender_id = 1,
        .context = 0,
        .base = 30,
        .bound = 30,
        .task_bytes = 1,
        .tasks = (const uint8_t[]){1},
    },
    { /* low through low.store */
        .sender_id = 2,
        .context = 1,
        .base = 10,
        .bound = 10,
        .task_bytes = 1,
        .tasks = (const uint8_t[]){2},
    },
};
static uint16_t store__queue[2];
static struct camkes_cpi store__cpi = {
    .name = "shared.store",
    .place = &store__place,
    .id = 0,
    .protocol = CAMKES_INHERITED,
    .ceiling = 30,
    .contexts = 2,
    .context = store__contexts,
    .callers = 2,
    .caller = store__callers,
    .manager = 7,
    .authority = 4,
    .queue = store__queue,
};

static void camkes__control(struct camkes_thread *self)
{
    if (pre_init) {
        pre_init();
    }
    if (store__init) {
        store__init();
    }
    camkes_start_interfaces(&camkes__instance);
    if (post_init) {
        post_init();
    }
    camkes_start_open(&camkes__instance);
    camkes_end_task(self->task);
}

/* control, priority 254 */
struct camkes_thread camkes_instance_shared__control = {
    .name = "shared",
    .instance = &camkes__instance,
    .number = 2,
    .priority = 254,
    .tcb = 1,
    .start = camkes__control,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .task_id = CAMKES_NO_TASK,
};

/* worker, priority 30 */
struct camkes_thread camkes_instance_shared__store__for_high = {
    .name = "shared.store@high",
    .instance = &camkes__instance,
    .number = 3,
    .priority = 30,
    .tcb = 2,
    .start = camkes_serve_cpi,
    .serve = store__serve,
    .endpoint = 5,
    .cpi = &store__cpi,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .task_id = CAMKES_NO_TASK,
};

/* worker, priority 10 */
struct camkes_thread camkes_instance_shared__store__for_low = {
    .name = "shared.store@low",
    .instance = &camkes__instance,
    .number = 4,
    .priority = 10,
    .tcb = 3,
    .start = camkes_serve_cpi,
    .serve = store__serve,
    .endpoint = 6,
    .cpi = &store__cpi,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .task_id = CAMKES_NO_TASK,
};

/* manager, priority 30 */
struct camkes_thread camkes_instance_shared__store__manager = {
    .name = "shared.store!manager",
    .instance = &camkes__instance,
    .number = 5,
    .priority = 30,
    .tcb = 4,
    .start = camkes_manage_cpi,
    .cpi = &store__cpi,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .task_id = CAMKES_NO_TASK,
};
