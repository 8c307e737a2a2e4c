/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-9 */
/* The loops of threads that serve requests: what they check, send and record, call by call. */
#include "log.h"

#include <camkes/serve.h>
#include <setjmp.h>

#if CAMKES_MCS
#define ONLY_MCS(text) text
#else
#define ONLY_MCS(text) ""
#endif

static seL4_IPCBuffer buffer;
static jmp_buf over;
static struct received {
    seL4_MessageInfo_t info;
    seL4_Word badge, first;
} script[20];
static unsigned received, scripted;
static seL4_Word answer; /* the label of replies to calls */

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

static struct camkes_thread self, other;
#if CAMKES_MCS
static bool extends; /* the manager, while the thread receives */
#endif

static seL4_MessageInfo_t next(seL4_Word *badge)
{
    if (received == scripted) {
        longjmp(over, 1);
    }
    *badge = script[received].badge;
    buffer.msg[0] = script[received].first;
#if CAMKES_MCS
    atomic_store(&self.extended, extends);
#endif
    return script[received++].info;
}

static void note_reply(seL4_CPtr endpoint, seL4_MessageInfo_t info)
{
    note("reply %lu of %lu words, %lu, and receive %lu\n",
         (unsigned long)seL4_MessageInfo_get_label(info),
         (unsigned long)seL4_MessageInfo_get_length(info), (unsigned long)buffer.msg[0],
         (unsigned long)endpoint);
}

#if CAMKES_MCS
seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr endpoint, seL4_MessageInfo_t info, seL4_Word *badge,
                                  seL4_CPtr reply)
{
    note_reply(endpoint, info);
    note("with %lu\n", (unsigned long)reply);
    return next(badge);
}

seL4_MessageInfo_t camkes_platform_receive_first(seL4_CPtr endpoint, seL4_Word *badge)
{
    note("receive %lu\n", (unsigned long)endpoint);
    return next(badge);
}

void seL4_Send(seL4_CPtr slot, seL4_MessageInfo_t info)
{
    note("send %lu to %lu\n", (unsigned long)seL4_MessageInfo_get_label(info), (unsigned long)slot);
}
#else
seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr endpoint, seL4_MessageInfo_t info, seL4_Word *badge)
{
    note_reply(endpoint, info);
    return next(badge);
}

seL4_MessageInfo_t seL4_Recv(seL4_CPtr endpoint, seL4_Word *badge)
{
    note("receive %lu\n", (unsigned long)endpoint);
    return next(badge);
}
#endif

seL4_MessageInfo_t seL4_Call(seL4_CPtr slot, seL4_MessageInfo_t info)
{
    note("call %lu with %#lx of %lu words\n", (unsigned long)slot,
         (unsigned long)seL4_MessageInfo_get_label(info),
         (unsigned long)seL4_MessageInfo_get_length(info));
    buffer.msg[0]++;
    return seL4_MessageInfo_new(answer, 0, 0, 1);
}

void camkes_host_point(void)
{
}

seL4_MessageInfo_t camkes_refuse(const struct camkes_place *place, seL4_Word badge,
                                 seL4_Word sender, unsigned error)
{
    need(error == CAMKES_MESSAGE_BUSY || self.label == CAMKES_LABEL_NONE,
         "what is claimed, in a handler of errors");
    note("refuse %s %lu %lu %u\n", place->interface, (unsigned long)badge, (unsigned long)sender,
         error);
    return seL4_MessageInfo_new(error, 0, 0, 0);
}

void camkes_start_wait(const struct camkes_instance *instance)
{
    note("%s waits\n", instance->name);
}

static void init(void)
{
    note("init\n");
}

static int run(void)
{
    note("run\n");
    return 3;
}

void camkes_start_interface(const struct camkes_instance *instance, void (*function)(void))
{
    note("%s starts\n", instance->name);
    function();
}

void camkes_lock_wait(struct camkes_cpi *cpi, struct camkes_context *context)
{
    note("wait for %s for %u\n", cpi->name, context->id);
}

void camkes_lock_hand_over(struct camkes_cpi *cpi, struct camkes_context *context)
{
    note("hand %s over from %u\n", cpi->name, context->id);
}

void camkes_manager_failed(const char *cpi)
{
    note("the manager of %s failed\n", cpi);
    longjmp(over, 1);
}

static const uint8_t tasks[] = {0x08, 0x01}; /* 3 and 8 */
static const struct camkes_caller callers[] = {
    {.sender_id = 70, .context = 1, .base = 10, .bound = 20, .task_bytes = 2, .tasks = tasks},
    {.sender_id = 80, .context = 0, .base = 10, .bound = 10, .task_bytes = 1, .tasks = tasks},
};
static struct camkes_context contexts[2];
static const struct camkes_place place = {.interface = "i"};
static const struct camkes_instance instance = {.name = "instance"};
static struct camkes_thread *pool[] = {&other, &self};
static struct camkes_cpi cpi;
static _Atomic uintptr_t *lock;
static bool pooled;

/* Everything as it is when a thread starts. */
static void begin(void)
{
    for (unsigned i = 0; i < 2; i++) {
        contexts[i] = (struct camkes_context){.id = (uint16_t)(50 + i),
                                              .held = i + 1,
                                              .route = (uint16_t)(60 + i),
                                              .manager_as_worker = 30 + i};
    }
    cpi = (struct camkes_cpi){.name = "cpi",
                              .id = 5,
                              .place = &place,
                              .context = contexts,
                              .contexts = 2,
                              .caller = callers,
                              .callers = 2,
                              .pooled = pooled,
                              .pool = pool,
                              .threads = 2};
    self = (struct camkes_thread){.cpi = &cpi, .endpoint = 9, .instance = &instance};
    self.context = pooled ? NULL : &contexts[1];
#if CAMKES_MCS
    self.reply = 41;
    contexts[0].timeout = 90;
    contexts[1].timeout = 91;
#endif
    camkes_set_self(&self);
    lock = NULL;
    received = scripted = 0;
    answer = 0;
}

static seL4_Word label(unsigned priority, unsigned task)
{
    return camkes_request_label((struct camkes_request_label){
        .priority = (uint8_t)priority, .task = (uint16_t)task, .sequence = 77});
}

static void receives(seL4_Word of, unsigned words, seL4_Word badge)
{
    script[scripted] =
        (struct received){seL4_MessageInfo_new(of, 0, 0, words), badge, 1000 + scripted};
    scripted++;
}

static void serve(struct camkes_thread *thread, struct camkes_received *request)
{
    struct camkes_registers registers = {{request->registers.word[0] + 1, 0, 0, 0}};
    note("serve %u words, %lu, from %lu\n", request->words,
         (unsigned long)request->registers.word[0], (unsigned long)thread->badge);
    const unsigned error = camkes_begin_request(thread, request, &cpi, lock, pooled);
    if (error != CAMKES_MESSAGE_GOOD) {
        camkes_reply_refused(thread, request, &place, error);
        return;
    }
    note("handler, held %lu\n", (unsigned long)request->held);
#if CAMKES_MCS
    need(thread->serving, "a request can be aborted from its begin on");
#endif
    camkes_end_request(thread, request, &cpi, lock, pooled);
#if CAMKES_MCS
    need(!thread->serving, "a request cannot be aborted after its end");
#endif
    camkes_reply(thread, request, seL4_MessageInfo_new(0, 0, 0, 1), &registers);
}

static void serve_cpi(size_t least, size_t most)
{
    const struct camkes_lengths usual = {.least = least, .most = most};
    if (setjmp(over) == 0) {
        camkes_serve_cpi(&self, serve, usual);
    }
}

#define WITH ONLY_MCS("with 41\n")
#define REFUSED(badge, sender, error)                                                              \
    "refuse i " #badge " " #sender " " #error "\nreply " #error                                    \
    " of 0 words, 0, and receive 9\n" WITH

static void what_is_checked(void)
{
    begin();
    receives(label(15, 3), 2, 1);
    receives(label(15, 3), 2, 1); /* the same */
    receives(label(15, 3), 3, 1); /* longer */
    receives(label(15, 3), 1, 1); /* and so on: lengths that are not usual are found elsewhere */
    receives(label(20, 8), 2, 1);
    receives(label(21, 3), 2, 1);
    receives(label(20, 8), 2, 1); /* as the one before that was good */
    receives(label(9, 3), 2, 1);
    receives(label(10, 4), 2, 1);
    receives(label(10, 16), 2, 1);
    receives(label(10, 3) | (seL4_Word)1 << 48, 2, 1);
    receives(label(10, 3), 2, 2);
    receives(label(10, 3), 2, 3);
    receives(label(10, 3), 2, 1);
    receives(label(10, 3), 2, 2); /* like that, but of another caller */
    receives(0, 1, 1); /* neither is it like the one before, nor like those that were refused */
    receives(0, 1, 1);
    serve_cpi(2, 3);
    char wanted[4000] = "instance waits\nreceive 9\n";
#define SERVED(words, first, priority, task)                                                       \
    "serve " #words " words, " #first ", from 1\n"                                                 \
    "begin: 5 51 " #priority " " #task " 77\nhandler, held 2\nend: 5 51\n"
#define REPLIED(second) "reply 0 of 1 words, " #second ", and receive 9\n" WITH
    strcat(wanted, SERVED(2, 1000, 15, 3) REPLIED(1001) SERVED(2, 1001, 15, 3) REPLIED(1002));
    strcat(wanted, SERVED(3, 1002, 15, 3) REPLIED(1003) SERVED(1, 1003, 15, 3) REPLIED(1004));
    strcat(wanted, SERVED(2, 1004, 20, 8) REPLIED(1005) REFUSED(1, 70, 10));
    strcat(wanted, SERVED(2, 1006, 20, 8) REPLIED(1007) REFUSED(1, 70, 10));
    strcat(wanted, REFUSED(1, 70, 11) REFUSED(1, 70, 11) REFUSED(1, 70, 9));
    strcat(wanted, REFUSED(2, 80, 12) REFUSED(3, 3, 12) SERVED(2, 1013, 10, 3) REPLIED(1014));
    strcat(wanted, REFUSED(2, 80, 12) REFUSED(1, 70, 10) REFUSED(1, 70, 10));
    need_done(wanted);
}

/* A good request has the words that the bytes of its parameters need. */
static void lengths(void)
{
    for (unsigned bytes = 0; bytes < 18; bytes++) {
        const struct camkes_lengths of = camkes_lengths_of((struct camkes_layout){bytes, 1});
        need(of.least == (bytes + 7) / 8 && of.most == of.least && !of.several, "a length");
    }
}

/* Requests for other methods are checked as one: their labels differ only there. */
static void methods(void)
{
    begin();
    const seL4_MessageInfo_t first =
        seL4_MessageInfo_new(label(15, 3) | CAMKES_LABEL_METHOD(uint16_t, 2), 0, 0, 2);
    need(camkes_label_method(first) == 2, "the method of a message");
    need(camkes_without_method(first).words[0] ==
             seL4_MessageInfo_new(label(15, 3), 0, 0, 2).words[0],
         "a message without its method");
    receives(label(15, 3) | CAMKES_LABEL_METHOD(uint16_t, 2), 2, 1);
    receives(label(15, 3) | CAMKES_LABEL_METHOD(uint16_t, 0xffff), 2, 1);
    receives(label(21, 3) | CAMKES_LABEL_METHOD(uint16_t, 2), 2, 1);
    const struct camkes_lengths usual = {.most = 120, .several = true};
    if (setjmp(over) == 0) {
        camkes_serve_cpi(&self, serve, usual);
    }
    char wanted[1000] = "instance waits\nreceive 9\n";
    strcat(wanted, SERVED(2, 1000, 15, 3) REPLIED(1001) SERVED(2, 1001, 15, 3) REPLIED(1002));
    strcat(wanted, REFUSED(1, 70, 10));
    need_done(wanted);
}

static void serve_plain(struct camkes_thread *thread, struct camkes_received *request)
{
    note("serve %u words, %lu, from %lu\n", request->words,
         (unsigned long)request->registers.word[0], (unsigned long)thread->badge);
    camkes_reply_empty(thread, request, seL4_MessageInfo_new(0, 0, 0, 0));
}

static void without_a_protocol(void)
{
    static struct camkes_interface interface = {init, run};
    static const struct camkes_lengths LENGTHS[] = {{2, 2, false}, {2, 3, false}, {0, 120, true}};
    for (unsigned i = 0; i < 3; i++) {
        begin();
        self.interface = &interface;
        for (unsigned words = 1; words < 5; words++) {
            receives(words == 3 ? 1 : 0, words, words);
        }
        if (setjmp(over) == 0) {
            camkes_serve_plain(&self, serve_plain, LENGTHS[i]);
        }
        need_done("instance starts\ninit\nrun\nreceive 9\n"
                  "serve 1 words, 1000, from 1\nreply 0 of 0 words, 0, and receive 9\n" WITH
                  "serve 2 words, 1001, from 2\nreply 0 of 0 words, 0, and receive 9\n" WITH
                  "serve 3 words, 1002, from 3\nreply 0 of 0 words, 0, and receive 9\n" WITH
                  "serve 4 words, 1003, from 4\nreply 0 of 0 words, 0, and receive 9\n" WITH);
    }
    interface.run = NULL;
    camkes_run_interface(&self);
    need_done("instance starts\ninit\n");
}

/* With a lock that is free, one that others have, and one that others wait for. */
static void locks(void)
{
    static const uintptr_t BEFORE[] = {0, 1};
    char wanted[4000] = "";
    for (unsigned i = 0; i < 2; i++) {
        begin();
        lock = &cpi.lock;
        cpi.lock = BEFORE[i];
        receives(label(15, 3), 2, 1);
        serve_cpi(2, 2);
        strcat(wanted,
               "instance waits\nreceive 9\nserve 2 words, 1000, from 1\nbegin: 5 51 15 3 77\n");
        strcat(wanted, i == 0 ? "" : "wait for cpi for 51\n");
        strcat(wanted, i == 0 ? "take: 5 51\n" : "");
        strcat(wanted, "handler, held 2\n");
        strcat(wanted, i == 0 ? "free: 5 51\n" : "hand cpi over from 51\n");
        strcat(wanted, "end: 5 51\n" REPLIED(1001));
        need(cpi.lock == BEFORE[i], "the lock word");
    }
    need_done(wanted);
}

#define POOL_BEGINS "instance waits\nreceive 9\nserve 2 words, 1000, from 1\n"
#define POOL_TELLS "call 31 with 0x1003 of 0 words\n"

#if !CAMKES_MCS
/* The manager hears of requests that threads of a pool begin and end, and may refuse them. */
static void pools(void)
{
    pooled = true;
    begin();
    receives(label(15, 3), 2, 1);
    serve_cpi(2, 2);
    need_done(POOL_BEGINS "begin: 5 51 15 3 77\n" POOL_TELLS "handler, held 2\nend: 5 51\n"
                          "call 31 with 0x1004 of 0 words\n" REPLIED(1001));
    need(self.context == &contexts[1] && self.origin == 51 && self.route == 61, "its request");
    receives(label(10, 3), 2, 2); /* the next one is of another context */
    atomic_store(&contexts[1].worker, NULL);
    serve_cpi(2, 2);
    need(self.context == &contexts[0] && self.origin == 50 && self.route == 60, "its request");
    done[0] = 0;
    begin();
    receives(label(15, 3), 2, 1);
    atomic_store(&contexts[1].worker, &other);
    serve_cpi(2, 2);
    need_done(POOL_BEGINS REFUSED(1, 70, 13));
    need(self.context == NULL, "a request that has not begun");
    begin();
    receives(label(15, 3), 2, 1);
    answer = CAMKES_MESSAGE_OPERATION;
    serve_cpi(2, 2);
    need_done(POOL_BEGINS "begin: 5 51 15 3 77\n" POOL_TELLS "end: 5 51\n" REFUSED(1, 70, 13));
    begin();
    self.context = &contexts[1];
    answer = CAMKES_MESSAGE_OPERATION;
    if (setjmp(over) == 0) {
        camkes_pool_end(&self);
    }
    need_done("call 31 with 0x1004 of 0 words\nthe manager of cpi failed\n");
    pooled = false;
}
#else
/* Before it receives, a thread with the extension of its CPI returns that. */
static void extensions(void)
{
    struct camkes_received request = {.words = 1};
    struct camkes_registers registers = {{17, 0, 0, 0}};
    const seL4_MessageInfo_t reply = seL4_MessageInfo_new(0, 0, 0, 1);
    begin();
    self.badge = 1;
    atomic_store(&self.extended, true);
    receives(label(15, 3), 2, 1);
    camkes_reply(&self, &request, reply, &registers);
    need_done("send 0 to 41\ncall 91 with 0xf of 0 words\nreceive 9\n");
    need(self.replied && !self.extended && request.registers.word[0] == 1000 && request.badge == 1,
         "what it is then");
    begin(); /* it gets that after it has decided to receive */
    receives(label(15, 3), 2, 1);
    extends = true;
    camkes_reply(&self, &request, reply, &registers);
    extends = false;
    need_done("reply 0 of 1 words, 17, and receive 9\n" WITH "call 91 with 0x1f of 0 words\n");
    registers.word[0] = 17;
    request = (struct camkes_received){.words = 1};
    begin(); /* it is taken away just before */
    receives(label(15, 3), 2, 1);
    camkes_reply_extended(&self, &request, reply, &registers);
    need(seL4_MessageInfo_get_label(request.info) == label(15, 3), "the next request");
    need_done("reply 0 of 1 words, 17, and receive 9\n" WITH);
    need(!self.replied && request.registers.word[0] == 1000, "what it is then");
}

/* Time is returned to the manager, with the badge of the worker. */
static void time_is_returned(void)
{
    for (unsigned i = 0; i < 2; i++) {
        begin();
        self.context = &contexts[i];
        camkes_return_time(&self, CAMKES_RETURN_WAIT);
        need_done(i == 0 ? "call 90 with 0x3f of 0 words\n" : "call 91 with 0x3f of 0 words\n");
    }
    answer = 1;
    if (setjmp(over) == 0) {
        camkes_return_time(&self, CAMKES_RETURN_REPLIED);
    }
    need_done("call 91 with 0xf of 0 words\nthe manager of cpi failed\n");
    begin();
    need(camkes_resume(&cpi, 0) && camkes_resume(&cpi, 7) && !camkes_resume(&cpi, -1), "resumed");
    need_done("call 90 with 0x9 of 0 words\ncall 90 with 0x7009 of 0 words\n");
    answer = 1;
    need(!camkes_resume(&cpi, 7), "not resumed");
    done[0] = 0;
}
#endif

int main(void)
{
    what_is_checked();
    lengths();
    methods();
    without_a_protocol();
    locks();
#if !CAMKES_MCS
    pools();
#else
    extensions();
    time_is_returned();
#endif
    printf("good\n");
    return 0;
}
