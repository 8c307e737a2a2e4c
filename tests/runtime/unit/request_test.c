/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-9 */
/* Requests, as callers make them: ways, labels, records, and what nested ones do about priorities.
 */
#include "log.h"

#include <camkes/request.h>

static seL4_IPCBuffer buffer;
static struct camkes_context context;
static struct camkes_thread self;
static seL4_Word pushed; /* by the manager during a call */

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

void camkes_host_point(void)
{
}

/* The reply has the first word of the request, and one more. */
static seL4_MessageInfo_t answer(const char *what, unsigned words, seL4_Word label)
{
    buffer.msg[0]++;
    note("%s with %#lx of %u words, nested %lu\n", what, (unsigned long)label, words,
         (unsigned long)atomic_load(&context.nested));
    if (pushed != 0) {
        atomic_store(&context.pushed, pushed);
    }
    return seL4_MessageInfo_new(0, 0, 0, words + 1);
}

seL4_MessageInfo_t seL4_Call(seL4_CPtr slot, seL4_MessageInfo_t info)
{
    char what[40];
    (void)snprintf(what, sizeof what, "call %lu", (unsigned long)slot);
    need(info.words[0] == seL4_MessageInfo_new(seL4_MessageInfo_get_label(info), 0, 0,
                                               seL4_MessageInfo_get_length(info))
                              .words[0],
         "a message with capabilities");
    return answer(what, (unsigned)seL4_MessageInfo_get_length(info),
                  seL4_MessageInfo_get_label(info));
}

seL4_MessageInfo_t camkes_request_raised(const struct camkes_uses *to,
                                         const struct camkes_route *route, seL4_Word method,
                                         unsigned words)
{
    (void)route;
    return answer(to->name, words, method);
}

seL4_MessageInfo_t camkes_request_pushed(const struct camkes_uses *to, seL4_MessageInfo_t reply)
{
    note("settled after %lu words\n", (unsigned long)seL4_MessageInfo_get_length(reply));
    return answer(to->name, 20, 0);
}

#if CAMKES_MCS
struct camkes_level _camkes_level;
#endif

static const struct camkes_route routes[] = {{11, 0}, {12, 22}, {0, 23}};
static struct camkes_uses to;
static seL4_Word method;

static void begin(bool nested, bool one_route)
{
    context = (struct camkes_context){.base = 10, .effective = 10};
    to = (struct camkes_uses){
        .name = "raised", .cpi = 5, .routes = 3, .route = routes, .one_route = one_route};
    self = (struct camkes_thread){.priority = 40,
                                  .origin = 60,
                                  .route = 1,
                                  .sequence = 7,
                                  .label = CAMKES_LABEL_OF(99, 5) | (seL4_Word)1 << 20};
    self.context = nested ? &context : NULL;
    camkes_set_self(&self);
    pushed = 0;
    buffer.msg[0] = 7;
}

static void request(bool in_registers, unsigned words, seL4_Word first)
{
    struct camkes_registers registers = {{7, 0, 0, 0}};
    buffer.msg[0] = in_registers ? 99 : 7;
    const seL4_MessageInfo_t reply =
        camkes_request(&to, method, in_registers ? &registers : NULL, 3);
    need(seL4_MessageInfo_get_length(reply) == words, "the length of a reply");
    need((in_registers ? registers.word[0] : buffer.msg[0]) == first, "the words of a reply");
}

/* Labels: priority, task and number. */
static void requests(void)
{
    for (unsigned in_registers = 0; in_registers < 2; in_registers++) {
        begin(false, true);
        request(in_registers, 4, 8);
        need_done("call: 5 60 40\ncall 11 with 0x800528 of 3 words, nested 0\nreturn: 5 60\n");
        begin(false, true);
        to.label = CAMKES_LABEL_OF(50, 8);
        request(in_registers, 4, 8);
        need_done("call: 5 60 40\ncall 11 with 0x800832 of 3 words, nested 0\nreturn: 5 60\n");
        begin(true, true); /* of a context, which cannot inherit there */
        context.effective = 30;
        request(in_registers, 4, 8);
        need_done("call: 5 60 30\ncall 11 with 0x80051e of 3 words, nested 0\nreturn: 5 60\n");
        begin(true, false); /* nor has such a label */
        to.label = CAMKES_LABEL_OF(50, 8);
        request(in_registers, 4, 8);
        need_done("call: 5 60 10\ncall 12 with 0x800832 of 3 words, nested 0\nreturn: 5 60\n");
    }
}

/* The method is in the label of each request, also of one that is nested. */
static void methods(void)
{
    method = CAMKES_LABEL_METHOD(uint16_t, 513);
    for (unsigned in_registers = 0; in_registers < 2; in_registers++) {
        begin(false, true);
        request(in_registers, 4, 8);
        need_done(
            "call: 5 60 40\ncall 11 with 0x201000800528 of 3 words, nested 0\nreturn: 5 60\n");
        begin(true, false);
        request(in_registers, 4, 8);
        need_done(
            "call: 5 60 10\ncall 12 with 0x20100080050a of 3 words, nested 22\nreturn: 5 60\n");
        begin(true, false);
        context.effective = 30;
        request(in_registers, 4, 8);
        need_done("call: 5 60 30\nraised with 0x201000000000 of 3 words, nested 22\n");
    }
    method = 0;
}

static void nested(void)
{
    for (unsigned in_registers = 0; in_registers < 2; in_registers++) {
        begin(true, false);
        request(in_registers, 4, 8);
        need_done("call: 5 60 10\ncall 12 with 0x80050a of 3 words, nested 22\nreturn: 5 60\n");
        need(atomic_load(&context.nested) == 0, "after a nested request");
        begin(true, false); /* its priority is raised meanwhile */
        pushed = 22;
        request(in_registers, 21, 9);
        need_done("call: 5 60 10\ncall 12 with 0x80050a of 3 words, nested 22\nreturn: 5 60\n"
                  "settled after 4 words\nraised with 0 of 20 words, nested 0\n");
        begin(true, false); /* or that of another */
        pushed = 23;
        request(in_registers, 4, 8);
        done[0] = 0;
        begin(true, false); /* or was before */
        context.effective = 11;
        request(in_registers, 4, 8);
        need_done("call: 5 60 11\nraised with 0 of 3 words, nested 22\n");
#if CAMKES_MCS
        begin(false, false); /* the time manager passes on the priority of a task */
        request(in_registers, 4, 8);
        need_done("call: 5 60 40\ncall 12 with 0x800528 of 3 words, nested 0\nreturn: 5 60\n");
#endif
    }
}

static void ways(void)
{
    static const bool EXIST[] = {true, true, false, false, false};
    for (uint16_t route = 0; route < 5; route++) {
        begin(false, false);
        self.route = route;
        need(camkes_has_route(&to) == EXIST[route], "a way");
        need(route > 2 || camkes_route(&self, &to) == &routes[route], "which");
        to.one_route = true;
        need(camkes_has_route(&to) && camkes_route(&self, &to) == &routes[0], "the only one");
        to.routes = 1;
        need(camkes_has_route(&to), "the only one that there is");
        to.routes = 0;
        need(!camkes_has_route(&to), "none");
    }
}

static void priorities(void)
{
    begin(true, false);
    context.effective = 30;
    need(camkes_own_priority(&self) == 30, "of a context");
    self.context = NULL;
    need(camkes_own_priority(&self) == 40, "of a thread");
#if CAMKES_MCS
    static const uint8_t by_level[] = {41, 42};
    self.priorities = by_level;
    need(camkes_own_priority(&self) == 41, "at criticality 0");
    _camkes_level.level = 1;
    need(camkes_own_priority(&self) == 42, "at criticality 1");
    _camkes_level.level = 0;
#endif
}

static void labels(void)
{
    const struct camkes_request_label given = {.priority = 201, .task = 13, .sequence = 77};
    const struct camkes_request_label got = camkes_request_label_read(camkes_request_label(given));
    need(got.priority == 201 && got.task == 13 && got.sequence == 77, "what is in a label");
}

int main(void)
{
    labels();
    requests();
    methods();
    nested();
    ways();
    priorities();
    printf("good\n");
    return 0;
}
