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
static const struct camkes_place store__place = {
    .instance = "shared",
    .interface = "store",
    .handler = &store__error_handler,
};

seL4_Word store_get_sender_id(void)
{
    return camkes_self()->sender_id;
}

/* system.camkes:4 */
static unsigned store__serve_put(struct camkes_message *message)
{
    struct camkes_scratch scratch;
    scratch.used = 0;
    const char *key = camkes_view_string(message, &scratch);
    size_t values_sz = 0;
    const int *values =
        camkes_view_array(message, &scratch, &values_sz, sizeof(int));
    if (!camkes_message_good(message, &store__place, "put")) {
        return 0;
    }
    int result = store_put(key, values_sz, values);
    struct camkes_message reply = camkes_message_new();
    camkes_put(&reply, &result, sizeof(int));
    return camkes_message_good(&reply, &store__place, "put")
               ? camkes_message_words(&reply)
               : 0;
}

/* system.camkes:5 */
static unsigned store__serve_get(struct camkes_message *message)
{
    struct camkes_scratch scratch;
    scratch.used = 0;
    const char *key = camkes_view_string(message, &scratch);
    char *value = NULL;
    int count = {0};
    camkes_get(message, &count, sizeof(int));
    if (!camkes_message_good(message, &store__place, "get")) {
        free(value);
        return 0;
    }
    store_get(key, &value, &count);
    struct camkes_message reply = camkes_message_new();
    camkes_put_string(&reply, value);
    camkes_put(&reply, &count, sizeof(int));
    free(value);
    return camkes_message_good(&reply, &store__place, "get")
               ? camkes_message_words(&reply)
               : 0;
}

static unsigned store__serve(struct camkes_thread *self, unsigned words)
{
    (void)self;
    struct camkes_message message = camkes_message_received(words);
    uint8_t method = 2;
    camkes_get(&message, &method, sizeof method);
    switch (method) {
    case 0:
        return store__serve_put(&message);
    case 1:
        return store__serve_get(&message);
    default:
        camkes_message_no_method(&store__place, method, 2);
        return 0;
    }
}

/* Who its requests come from, and who may say that. */
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
    {.sender_id = 1, .context = 0, .bound = 30}, /* high through high.store */
    {.sender_id = 2, .context = 1, .bound = 10}, /* low through low.store */
};
static uint16_t store__queue[2];
static struct camkes_cpi store__cpi = {
    .name = "shared.store",
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
