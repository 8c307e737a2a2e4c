/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-8 */
/* The messages of a nested request whose context has an inherited priority, or gets one meanwhile.
 */
#include "../../../runtime/src/core/nested.h"

#include <camkes/error.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ENDPOINT = 7,
    MANAGER,
    OWN_MANAGER,
    OF_CPI, /* the same, as a worker calls it */
    CPI = 5,
    ORIGIN = 3,
    CAUSE = 4,
    GOOD = CAMKES_MESSAGE_GOOD
};
#define UPDATE_TO(priority) (CAMKES_UPDATE | (priority) << 4 | CAUSE << 12)

struct sent {
    seL4_CPtr to;
    seL4_Word label;
};

#if CAMKES_MCS
struct camkes_level _camkes_level;
#endif
static struct camkes_context context;
static struct camkes_cpi own = {.name = "own"};
static struct camkes_thread self = {.name = "t", .origin = ORIGIN, .context = &context};
static const struct camkes_route route = {.endpoint = ENDPOINT, .manager = MANAGER};
static const struct camkes_uses uses = {
    .name = "p", .cpi = CPI, .routes = 1, .route = &route, .one_route = true, .label = 1};
static seL4_IPCBuffer buffer;
static const char *what;
static struct sent sent[8];
static unsigned sent_count, ends;
static const char *fails; /* with this text */
static jmp_buf failed;
static uint8_t raised_to; /* by the manager while the request is served */

static void need(bool good, const char *text)
{
    if (!good) {
        printf("%s: %s\n", what, text);
        exit(1);
    }
}

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

seL4_MessageInfo_t seL4_Call(seL4_CPtr to, seL4_MessageInfo_t info)
{
    need(sent_count < 8, "too many messages");
    sent[sent_count++] = (struct sent){to, seL4_MessageInfo_get_label(info)};
#if CAMKES_MCS
    need(to != ENDPOINT || atomic_load(&context.raised) == MANAGER, "an update is not noted");
#endif
    need(raised_to == 0 || to == ENDPOINT || sent_count != 3 || atomic_load(&context.pushing),
         "no update is under way");
    if (to == ENDPOINT && raised_to != 0) {
        atomic_store(&context.effective, raised_to);
        camkes_nested_push(&context);
    }
    return seL4_MessageInfo_new(fails != NULL ? CAMKES_MESSAGE_OPERATION : GOOD, 0, 0, 0);
}

void camkes_ask_own_manager(const struct camkes_cpi *cpi, const struct camkes_context *of,
                            enum camkes_worker_operation operation)
{
    need(cpi == &own && of == &context, "another manager");
#if CAMKES_MCS
    need(operation != CAMKES_SETTLE || atomic_load(&context.raised) == MANAGER,
         "a request that is to be cleared is not noted");
#endif
    sent[sent_count++] = (struct sent){OF_CPI, operation};
}

static unsigned over_after; /* so many points, the request is over; 0: it goes on */
#if CAMKES_MCS
static bool abandons; /* another abort can come at any point */
#endif

void camkes_host_point(void)
{
    if (over_after > 0 && --over_after == 0) {
        atomic_store(&context.nested, 0);
    }
#if CAMKES_MCS
    need(!abandons || atomic_load(&context.raised) == MANAGER, "an abort would clear nothing");
#endif
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    (void)other;
    need(kind == CAMKES_TRACE_CALL_END && n == 2 && args[0] == CPI && args[1] == ORIGIN,
         "another record");
    ends++;
}

void camkes_fail(const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    need(fails != NULL && strcmp(text, fails) == 0, text);
    longjmp(failed, 1);
}

static void start(const char *name, struct camkes_cpi *cpi)
{
    what = name;
    sent_count = ends = raised_to = 0;
    context = (struct camkes_context){.name = "c",
                                      .nested = MANAGER,
                                      .base = 10,
                                      .effective = 30,
                                      .cause = CAUSE,
                                      .manager_as_worker = OWN_MANAGER};
#if CAMKES_MCS
    atomic_store(&context.paid, true);
#endif
    self.cpi = cpi;
    seL4_SetUserData((seL4_Word)&self);
}

static void check(const struct sent *expected, unsigned count)
{
    need(sent_count == count, "another number of messages");
    for (unsigned i = 0; i < count; i++) {
        need(sent[i].to == expected[i].to, "a message to another place");
        need(sent[i].label == expected[i].label, "another message");
    }
    need(atomic_load(&context.pushed) == 0, "an update is left over");
}

#define CHECK(...)                                                                                 \
    check((const struct sent[]){__VA_ARGS__},                                                      \
          sizeof((const struct sent[]){__VA_ARGS__}) / sizeof(struct sent))

static void test_raised_before(void)
{
    start("raised before", &own);
    camkes_request_raised(&uses, &route, 0, 0);
    CHECK({MANAGER, UPDATE_TO(30)}, {ENDPOINT, 1}, {MANAGER, CAMKES_CLEAR});
    need(ends == 1, "no record");
    need(atomic_load(&context.nested) == 0, "the request is not over");
}

static void test_raised_meanwhile(void)
{
    start("raised meanwhile", &own);
    raised_to = 40;
    camkes_request_raised(&uses, &route, 0, 0);
    CHECK({MANAGER, UPDATE_TO(30)}, {ENDPOINT, 1}, {MANAGER, UPDATE_TO(40)},
          {MANAGER, CAMKES_CLEAR});
    need(!atomic_load(&context.pushing), "the update is still under way");
}

/* The manager is about to send an update: it replies once it has. */
static void test_about_to_be_raised(void)
{
    start("of a worker", &own);
    atomic_store(&context.pushing, true);
    atomic_store(&context.pushed, MANAGER);
    camkes_request_pushed(&uses, seL4_MessageInfo_new(GOOD, 0, 0, 0));
    CHECK({OF_CPI, CAMKES_SETTLE}, {MANAGER, CAMKES_CLEAR});
    start("of a task that helps", NULL);
    atomic_store(&context.pushing, true);
    atomic_store(&context.pushed, MANAGER);
    camkes_request_raised(&uses, &route, 0, 0);
    CHECK({MANAGER, UPDATE_TO(30)}, {ENDPOINT, 1}, {OWN_MANAGER, CAMKES_SETTLE},
          {MANAGER, CAMKES_CLEAR});
}

/* It has begun, and sees that the request is over. */
static void test_not_raised_any_more(void)
{
    start("not raised any more", &own);
    atomic_store(&context.pushing, true);
    camkes_request_raised(&uses, &route, 0, 0);
    CHECK({MANAGER, UPDATE_TO(30)}, {ENDPOINT, 1}, {MANAGER, CAMKES_CLEAR});
}

static void test_refused(void)
{
    start("refused", &own);
    fails = "the manager of p refused what thread t asked it for";
    if (setjmp(failed) == 0) {
        camkes_ask_manager(MANAGER, CAMKES_CLEAR, "p");
        need(false, "the thread goes on");
    }
    fails = "thread t cannot request p: it does not work for a task that the plan lets there";
    if (setjmp(failed) == 0) {
        (void)camkes_no_route(&uses);
        need(false, "the thread goes on");
    }
    fails = NULL;
}

static void test_without_a_request(void)
{
    start("without a request", &own);
    atomic_store(&context.nested, 0);
    camkes_nested_push(&context);
    need(sent_count == 0 && !atomic_load(&context.pushing), "an update was sent");
    need(camkes_nested_found(&context) == 0, "a request was found");
    atomic_store(&context.pushed, MANAGER);
    need(camkes_nested_found(&context) == 0, "a request was found");
    need(atomic_load(&context.pushed) == MANAGER, "it is not to be cleared any more");
    atomic_store(&context.nested, 1);
    need(camkes_nested_found(&context) == 1, "the first slot");
    need(atomic_load(&context.pushed) == 1, "the worker would not clear it");
    camkes_nested_push(&context);
    need(sent_count == 1 && sent[0].to == 1 && sent[0].label == UPDATE_TO(30), "an update");
    start("over while it is looked for", &own);
    over_after = 3; /* after `nested` was read, and `pushed` written */
    camkes_nested_push(&context);
    need(sent_count == 0, "an update comes late");
}

#if CAMKES_MCS
/* `context` is within a nested request, or back from one that it has not cleared, or has no other
 * sign of it than that an update was pushed. */
static void test_abandoned(void)
{
    start("aborted in a nested request", &own);
    camkes_nested_abandon(&context);
    CHECK({MANAGER, CAMKES_CLEAR | 1 << 12});
    need(atomic_load(&context.nested) == 0, "the request is not over");
    start("aborted elsewhere", &own);
    atomic_store(&context.nested, 0);
    camkes_nested_abandon(&context);
    need(sent_count == 0, "what is to be cleared");
    atomic_store(&context.nested, 1);
    camkes_nested_abandon(&context);
    CHECK({1, CAMKES_CLEAR | 1 << 12});
    start("of no context", &own);
    self.context = NULL;
    camkes_request_abandoned();
    self.context = &context;
    need(sent_count == 0, "what is to be cleared");
    start("aborted after an update", &own);
    atomic_store(&context.pushed, MANAGER);
    camkes_nested_abandon(&context);
    CHECK({MANAGER, CAMKES_CLEAR | 1 << 12});
    for (int sign = 0; sign < 3; sign++) {
        start("stopped in or after a nested request", &own);
        atomic_store(&context.nested, sign == 0 ? MANAGER : 0);
        atomic_store(&context.raised, sign == 1 ? MANAGER : 0);
        atomic_store(&context.pushed, sign == 2 ? MANAGER : 0);
        abandons = true;
        camkes_request_abandoned();
        abandons = false;
        CHECK({MANAGER, CAMKES_CLEAR | 1 << 12});
        camkes_request_abandoned();
        need(sent_count == 1, "it is sent again");
    }
}

/* One that waits for a lock without `help` has the priority, and does not pay. */
static void test_who_pays(void)
{
    start("raised by one that does not pay", &own);
    atomic_store(&context.paid, false);
    camkes_request_raised(&uses, &route, 0, 0);
    CHECK({MANAGER, CAMKES_RAISE | 30 << 4 | CAUSE << 12}, {ENDPOINT, 1}, {MANAGER, CAMKES_CLEAR});
}

/* Where several can pay, the manager of the CPI that is requested learns of all. */
static void test_tells(void)
{
    for (int i = 0; i < 8; i++) {
        start("several can pay", &own);
        own.lends = (i & 1) != 0;
        own.lent = (i & 2) != 0;
        own.grouped = (i & 4) != 0;
        camkes_request_raised(&uses, &route, 0, 0);
        if (i > 0 && i < 4) {
            CHECK({MANAGER, UPDATE_TO(30)}, {OF_CPI, CAMKES_TELL}, {ENDPOINT, 1},
                  {MANAGER, CAMKES_CLEAR});
        } else {
            CHECK({MANAGER, UPDATE_TO(30)}, {ENDPOINT, 1}, {MANAGER, CAMKES_CLEAR});
        }
    }
    own.lends = own.lent = own.grouped = false;
    start("of a task", NULL);
    camkes_request_raised(&uses, &route, 0, 0);
    CHECK({MANAGER, UPDATE_TO(30)}, {ENDPOINT, 1}, {MANAGER, CAMKES_CLEAR});
}

static void test_lowered(void)
{
    start("one that waits further up", &own);
    camkes_nested_tell(&context, 25, CAUSE);
    atomic_store(&context.pushed, 0);
    CHECK({MANAGER, UPDATE_TO(25)});
    start("lowered in a nested request", &own);
    atomic_store(&context.effective, 20);
    camkes_nested_fall(&context);
    atomic_store(&context.pushed, 0);
    CHECK({MANAGER, CAMKES_FALL | 20 << 4 | CAUSE << 12});
    atomic_store(&context.nested, 0);
    camkes_nested_fall(&context);
    need(sent_count == 1, "without a nested request");
}
#endif

int main(void)
{
    test_raised_before();
    test_raised_meanwhile();
    test_about_to_be_raised();
    test_without_a_request();
    test_not_raised_any_more();
    test_refused();
#if CAMKES_MCS
    test_abandoned();
    test_who_pays();
    test_tells();
    test_lowered();
#endif
    printf("good\n");
    return 0;
}
