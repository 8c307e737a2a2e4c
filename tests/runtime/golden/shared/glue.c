/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: instance "shared" (system.camkes:16). */
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
    .gate = 13,
    .ready = 14,
    .interfaces = 0,
};
static const struct camkes_instance camkes__instance = {
    .name = "shared",
    .start = &camkes__start,
};
struct camkes_thread camkes_instance_shared__control;
struct camkes_thread camkes_instance_shared__store__for_high;
struct camkes_thread camkes_instance_shared__store__for_low;
struct camkes_thread camkes_instance_shared__store__manager;

const char *get_instance_name(void)
{
    return camkes__instance.name;
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
    return camkes_sender_id(camkes_self());
}
static struct camkes_cpi store__cpi;

/* system.camkes:4 */
static void store__serve_put(struct camkes_thread *self, struct camkes_received *request)
{
    camkes_registers_to_buffer(&request->registers);
    struct camkes_message message = camkes_message_received(request->words);
    message.at = camkes_padded(&message, CAMKES_METHOD_SIZE(uint8_t));
    struct camkes_scratch scratch;
    scratch.used = 0;
    const char *key = camkes_view_string(&message, &scratch);
    size_t values_sz = 0;
    const int *values =
        camkes_view_array(&message, &scratch, &values_sz, sizeof(int));
    camkes_message_end(&message);
    unsigned error = camkes_message_accepted(&message, &store__place, "put") ? CAMKES_MESSAGE_GOOD : message.error;
    if (error == CAMKES_MESSAGE_GOOD) {
        error = camkes_begin_request(self, request, &store__cpi, &store__cpi.lock, false);
        CAMKES_TRACE(METHOD, 0, 0);
    }
    if (CAMKES_UNLIKELY(error != CAMKES_MESSAGE_GOOD)) {
        camkes_reply_refused(self, request, &store__place, error);
        return;
    }
    int result = store_put(key, values_sz, values);
    const struct camkes_layout answered = camkes_layout(sizeof(int), CAMKES_WORDS(sizeof(int)));
    struct camkes_registers registers = {{0}};
    struct camkes_message reply = camkes_message_new(CAMKES_IS_SHORT(answered.bytes) ? &registers : NULL, answered.unit);
    CAMKES_PUT(&reply, result);
    camkes_end_request(self, request, &store__cpi, &store__cpi.lock, false);
    if (!camkes_message_good(&reply, &store__place, "put")) {
        camkes_reply_empty(self, request, camkes_message_none());
        return;
    }
    if (!CAMKES_IS_SHORT(answered.bytes)) {
        camkes_registers_from_buffer(&registers);
    }
    camkes_reply(self, request, camkes_message_info(&reply), &registers);
}

/* system.camkes:5 */
static void store__serve_get(struct camkes_thread *self, struct camkes_received *request)
{
    camkes_registers_to_buffer(&request->registers);
    struct camkes_message message = camkes_message_received(request->words);
    message.at = camkes_padded(&message, CAMKES_METHOD_SIZE(uint8_t));
    struct camkes_scratch scratch;
    scratch.used = 0;
    const char *key = camkes_view_string(&message, &scratch);
    char *value = NULL;
    int count = {0};
    camkes_get(&message, &count, sizeof(int));
    camkes_message_end(&message);
    unsigned error = camkes_message_accepted(&message, &store__place, "get") ? CAMKES_MESSAGE_GOOD : message.error;
    if (error == CAMKES_MESSAGE_GOOD) {
        error = camkes_begin_request(self, request, &store__cpi, &store__cpi.lock, false);
        CAMKES_TRACE(METHOD, 0, 1);
    }
    if (CAMKES_UNLIKELY(error != CAMKES_MESSAGE_GOOD)) {
        free(value);
        camkes_reply_refused(self, request, &store__place, error);
        return;
    }
    store_get(key, &value, &count);
    struct camkes_registers registers = {{0}};
    struct camkes_message reply = camkes_message_new(NULL, 1);
    camkes_put_string(&reply, value);
    CAMKES_PUT(&reply, count);
    free(value);
    camkes_end_request(self, request, &store__cpi, &store__cpi.lock, false);
    if (!camkes_message_good(&reply, &store__place, "get")) {
        camkes_reply_empty(self, request, camkes_message_none());
        return;
    }
    camkes_registers_from_buffer(&registers);
    camkes_reply(self, request, camkes_message_info(&reply), &registers);
}

static void store__serve(struct camkes_thread *self, struct camkes_received *request)
{
    seL4_Word method = 0;
    unsigned wrong = CAMKES_MESSAGE_GOOD;
    uint8_t first = 0;
    if (CAMKES_METHOD_IN_LABEL(first)) {
        method = camkes_label_method(request->info);
    } else if (CAMKES_UNLIKELY(request->words == 0)) {
        wrong = CAMKES_MESSAGE_TOO_SHORT;
    } else {
        (void)memcpy(&first, &request->registers, sizeof first);
        method = first;
    }
    if (CAMKES_LIKELY(wrong == CAMKES_MESSAGE_GOOD)) {
        switch (method) {
        case 0:
            store__serve_put(self, request);
            return;
        case 1:
            store__serve_get(self, request);
            return;
        default:
            break;
        }
    }
    camkes_reply_empty(self, request, camkes_message_no_method(self, &store__place, wrong, method, 2));
}

/* What its threads do. */
static void store__loop(struct camkes_thread *self)
{
    const struct camkes_lengths usual = {.most = seL4_MsgMaxLength, .several = CAMKES_METHOD_IN_LABEL(uint8_t)};
    camkes_serve_cpi(self, store__serve, usual);
}

/* The contexts of its requests, and the callers that may send them. */
static struct camkes_context store__contexts[] = {
    {
        .name = "high",
        .id = 0,
        .held = 1,
        .route = 0,
        .base = 30,
        .request = 30,
        .effective = 30,
        .reply = 11,
        .manager_as_worker = 8,
        .worker = &camkes_instance_shared__store__for_high,
    },
    {
        .name = "low",
        .id = 1,
        .held = 2,
        .route = 1,
        .base = 10,
        .request = 10,
        .effective = 10,
        .reply = 12,
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
        .is_task = true,
        .task_bytes = 1,
        .tasks = (const uint8_t[]){1},
    },
    { /* low through low.store */
        .sender_id = 2,
        .context = 1,
        .base = 10,
        .bound = 10,
        .is_task = true,
        .task_bytes = 1,
        .tasks = (const uint8_t[]){2},
    },
};
static struct camkes_cpi store__cpi = {
    .name = "shared.store",
    .place = &store__place,
    .id = 0,
    .ceiling = 30,
    .contexts = 2,
    .context = store__contexts,
    .callers = 2,
    .caller = store__callers,
    .manager = 7,
    .wake = 10,
    .authority = 4,
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
    if (store__init) {
        store__init();
    }
    camkes_start_interfaces(&camkes__instance);
    if (post_init) {
        post_init();
    }
    camkes_start_open(&camkes__instance);
    camkes__jobs(self);
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
    .label = CAMKES_LABEL_NONE,
};

/* worker, priority 30 */
struct camkes_thread camkes_instance_shared__store__for_high = {
    .name = "shared.store@high",
    .instance = &camkes__instance,
    .number = 3,
    .priority = 30,
    .tcb = 2,
    .start = store__loop,
    .endpoint = 5,
    .cpi = &store__cpi,
    .context = &store__contexts[0],
    .origin = 0,
    .route = 0,
    .label = CAMKES_LABEL_NONE,
};

/* worker, priority 10 */
struct camkes_thread camkes_instance_shared__store__for_low = {
    .name = "shared.store@low",
    .instance = &camkes__instance,
    .number = 4,
    .priority = 10,
    .tcb = 3,
    .start = store__loop,
    .endpoint = 6,
    .cpi = &store__cpi,
    .context = &store__contexts[1],
    .origin = 1,
    .route = 1,
    .label = CAMKES_LABEL_NONE,
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
    .label = CAMKES_LABEL_NONE,
};

/* The threads of the address space, by number. */
extern struct camkes_thread camkes_instance_shared__control;
extern struct camkes_thread camkes_instance_shared__store__for_high;
extern struct camkes_thread camkes_instance_shared__store__for_low;
extern struct camkes_thread camkes_instance_shared__store__manager;

struct camkes_thread *const camkes_threads[] = {
    &camkes_instance_shared__control, /* shared */
    &camkes_instance_shared__store__for_high, /* shared.store@high */
    &camkes_instance_shared__store__for_low, /* shared.store@low */
    &camkes_instance_shared__store__manager, /* shared.store!manager */
};
const unsigned camkes_thread_count = 4;
