/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: instance "high" (system.camkes:14). */
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
    .name = "high",
    .start = &camkes__start,
};
struct camkes_thread camkes_instance_high__control;

const char *get_instance_name(void)
{
    return camkes__instance.name;
}

int get_instance_affinity(void)
{
    return 0;
}

/* uses Store store: system.camkes:8 */
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

/* uses store, served by shared.store: system.camkes:17 */
static const struct camkes_place store__place = {
    .instance = "high",
    .interface = "store",
    .handler = &store__error_handler,
    .server = "shared.store",
};
static const struct camkes_route store__routes[] = {
    {.endpoint = 2, .manager = 0}, /* high */
};
static const struct camkes_uses store__uses = {
    .name = "shared.store",
    .cpi = 0,
    .routes = 1,
    .route = store__routes,
    .one_route = true,
    .label = CAMKES_LABEL_OF(30, 0),
};

/* system.camkes:4 */
int store_put(const char *key, size_t values_sz, const int *values)
{
    int result = {0};
    if (!camkes_has_route(&store__uses)) {
        CAMKES_FAIL(result, camkes_no_route(&store__uses));
    }
    const struct camkes_layout answered = camkes_layout(sizeof(int), CAMKES_WORDS(sizeof(int)));
    struct camkes_message message = camkes_message_new(NULL, 1);
    if (!CAMKES_METHOD_IN_LABEL(uint8_t)) {
        const uint8_t method = 0;
        CAMKES_PUT(&message, method);
    }
    camkes_put_string(&message, key);
    camkes_put_array(&message, values, values_sz, sizeof(int));
    if (!camkes_message_good(&message, &store__place, "put")) {
        return result;
    }
    const seL4_MessageInfo_t reply = camkes_request(&store__uses, CAMKES_LABEL_METHOD(uint8_t, 0), NULL, camkes_message_words(&message));
    if (!camkes_reply_good(reply, answered)) {
        CAMKES_FAIL(result, camkes_reply_failed(&store__place, reply, answered.bytes, "put"));
    }
    message = camkes_message_fixed(NULL, answered);
    CAMKES_TAKE(&message, result);
    return result;
}

/* system.camkes:5 */
void store_get(const char *key, char **value, int *count)
{
    if (!camkes_has_route(&store__uses)) {
        (void)camkes_no_route(&store__uses);
        return;
    }
    struct camkes_message message = camkes_message_new(NULL, 1);
    if (!CAMKES_METHOD_IN_LABEL(uint8_t)) {
        const uint8_t method = 1;
        CAMKES_PUT(&message, method);
    }
    camkes_put_string(&message, key);
    CAMKES_PUT(&message, *count);
    if (!camkes_message_good(&message, &store__place, "get")) {
        return;
    }
    message = camkes_message_reply(camkes_request(&store__uses, CAMKES_LABEL_METHOD(uint8_t, 1), NULL, camkes_message_words(&message)));
    *value = camkes_get_string(&message);
    camkes_get(&message, count, sizeof(int));
    (void)camkes_reply_read(&message, &store__place, "get");
}

/* The task whose code is run(). */
static struct camkes_task camkes__task = {
    .release = 3,
    .timer = 4,
    .offset = 0,
    .period = 10000000,
};

/* run(), from a release on. */
static void camkes__jobs(struct camkes_thread *self)
{
    camkes_begin_task(self->task);
    const int status = run();
    camkes_end_task(self->task);
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

/* control, priority 30 */
struct camkes_thread camkes_instance_high__control = {
    .name = "high",
    .instance = &camkes__instance,
    .number = 0,
    .priority = 30,
    .tcb = 1,
    .start = camkes__control,
    .task = &camkes__task,
    .origin = 0,
    .route = 0,
    .label = CAMKES_LABEL_OF(30, 0),
};

/* The threads of the address space, by number. */
extern struct camkes_thread camkes_instance_high__control;

struct camkes_thread *const camkes_threads[] = {
    &camkes_instance_high__control, /* high */
};
const unsigned camkes_thread_count = 1;
