/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-13 */
/* What the runtime has of the kernel: each function is the call that it names. */
#define _POSIX_C_SOURCE 200809L
#include "log.h"

#include <camkes/instance.h>
#include <setjmp.h>
#include <signal.h>

enum { ENDPOINT = 7, REPLY = 30, SLOT, TIMER, NOTIFICATION };

static seL4_IPCBuffer buffer;
static uint64_t expirations;
static sigjmp_buf trapped;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

/* The answer, or the message, changes all words and has one more. */
static seL4_MessageInfo_t answer(const char *call, seL4_CPtr to, seL4_MessageInfo_t info)
{
    note("%s %u: %u of %u", call, (unsigned)to, (unsigned)seL4_MessageInfo_get_label(info),
         (unsigned)seL4_MessageInfo_get_length(info));
    need(seL4_MessageInfo_get_extraCaps(info) == 0 && seL4_MessageInfo_get_capsUnwrapped(info) == 0,
         "capabilities");
    for (int i = 0; i <= CAMKES_REGISTERS; i++) {
        note(" %u", (unsigned)seL4_GetMR(i));
        seL4_SetMR(i, seL4_GetMR(i) + 100);
    }
    note("\n");
    return seL4_MessageInfo_new(seL4_MessageInfo_get_label(info) + 1, 0, 0,
                                seL4_MessageInfo_get_length(info) + 1);
}

#define NO_MESSAGE seL4_MessageInfo_new(0, 0, 0, 0)

seL4_MessageInfo_t seL4_Call(seL4_CPtr to, seL4_MessageInfo_t info)
{
    return answer("call", to, info);
}

void seL4_Send(seL4_CPtr to, seL4_MessageInfo_t info)
{
    (void)answer("send", to, info);
}

#if CAMKES_MCS
static struct camkes_thread self = {.name = "thread", .tcb = 12, .reply = REPLY};

seL4_MessageInfo_t seL4_Recv(seL4_CPtr from, seL4_Word *badge, seL4_CPtr reply)
{
    *badge = 5;
    note("with %u ", (unsigned)reply);
    return answer("receive", from, NO_MESSAGE);
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr from, seL4_MessageInfo_t info, seL4_Word *badge,
                                  seL4_CPtr reply)
{
    *badge = 6;
    note("with %u ", (unsigned)reply);
    return answer("reply and receive", from, info);
}

seL4_MessageInfo_t seL4_Wait(seL4_CPtr notification, seL4_Word *badge)
{
    if (badge != NULL) {
        *badge = 8;
    }
    expirations++;
    return answer("wait", notification, NO_MESSAGE);
}

seL4_Error seL4_CNode_Delete(seL4_CNode node, seL4_Word index, uint8_t depth)
{
    note("delete %u %u %u\n", (unsigned)node, (unsigned)index, depth);
    return seL4_NoError;
}

void camkes_host_restart(seL4_CPtr tcb, void (*entry)(void))
{
    note("restart %u%s\n", (unsigned)tcb, entry == camkes_platform_end_thread ? "" : " elsewhere");
}

bool camkes_host_keep_reply(seL4_CPtr tcb)
{
    note("keep %u\n", (unsigned)tcb);
    return tcb == 12;
}
#else
seL4_MessageInfo_t seL4_Recv(seL4_CPtr from, seL4_Word *badge)
{
    *badge = 5;
    return answer("receive", from, NO_MESSAGE);
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr from, seL4_MessageInfo_t info, seL4_Word *badge)
{
    *badge = 6;
    return answer("reply and receive", from, info);
}

void seL4_Reply(seL4_MessageInfo_t info)
{
    (void)answer("reply", 0, info);
}

void seL4_Wait(seL4_CPtr notification, seL4_Word *badge)
{
    need(badge == NULL, "a badge");
    expirations++;
    (void)answer("wait", notification, NO_MESSAGE);
}

seL4_Error seL4_CNode_SaveCaller(seL4_CNode node, seL4_Word index, uint8_t depth)
{
    note("save %u %u %u\n", (unsigned)node, (unsigned)index, depth);
    return seL4_DeleteFirst;
}
#endif

void seL4_DebugHalt(void)
{
    note("halt\n");
}

uint64_t camkes_host_now(void)
{
    return 5000000000;
}

void camkes_host_work(uint64_t ns)
{
    note("work %lu\n", (unsigned long)ns);
}

void camkes_host_work_between(uint64_t low, uint64_t high)
{
    note("work %lu to %lu\n", (unsigned long)low, (unsigned long)high);
}

void camkes_host_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    note("arm %u %lu %lu\n", (unsigned)timer, (unsigned long)first, (unsigned long)period);
}

uint64_t camkes_host_timer_expirations(seL4_CPtr timer)
{
    need(timer == TIMER, "another timer");
    return expirations;
}

void camkes_host_write(const char *text, size_t length)
{
    note("write %.*s\n", (int)length, text);
}

void camkes_host_exit_status(int status)
{
    note("exit %d\n", status);
}

void camkes_host_point(void)
{
    note("point\n");
}

static void set_words(seL4_Word first)
{
    for (int i = 0; i <= CAMKES_REGISTERS; i++) {
        seL4_SetMR(i, first + (seL4_Word)i);
    }
}

static void need_words(seL4_Word first)
{
    for (int i = 0; i <= CAMKES_REGISTERS; i++) {
        need(seL4_GetMR(i) == first + (seL4_Word)i, "another word");
    }
}

#if CAMKES_MCS
#define WITH "with 30 "
#else
#define WITH ""
#endif

static void messages(void)
{
    seL4_Word badge = 0;
    const seL4_MessageInfo_t info = seL4_MessageInfo_new(9, 0, 0, 2);
    set_words(10);
    seL4_MessageInfo_t got = camkes_platform_receive(ENDPOINT, &badge);
    need(badge == 5 && got.words[0] == answer("", 0, NO_MESSAGE).words[0], "what is received");
    need_done(WITH "receive 7: 0 of 0 10 11 12 13 14\n 0: 0 of 0 110 111 112 113 114\n");
    got = camkes_platform_reply_receive(ENDPOINT, info, &badge);
    need(badge == 6 && seL4_MessageInfo_get_label(got) == 10, "what is received after a reply");
    need_done(WITH "reply and receive 7: 9 of 2 210 211 212 213 214\n");
    set_words(10);
    got = camkes_platform_reply_receive_label(ENDPOINT, info, &badge);
    need(badge == 6 && seL4_MessageInfo_get_label(got) == 10, "the same of a label");
    need_done(WITH "reply and receive 7: 9 of 2 10 11 12 13 14\n");
    set_words(10);
    camkes_platform_reply(info);
#if CAMKES_MCS
    need_done("send 30: 9 of 2 10 11 12 13 14\n");
    set_words(10);
    got = camkes_platform_listen(ENDPOINT, &badge);
    need(badge == 8 && seL4_MessageInfo_get_label(got) == 1, "a message without a reply");
    need_done("wait 7: 0 of 0 10 11 12 13 14\n");
#else
    need_done("reply 0: 9 of 2 10 11 12 13 14\n");
#endif
    set_words(10);
    need(camkes_platform_call(ENDPOINT, 9) == 10, "the label of an answer");
    need_done("call 7: 9 of 0 10 11 12 13 14\n");
    set_words(10);
    camkes_platform_wait(NOTIFICATION);
    need_done("wait 33: 0 of 0 10 11 12 13 14\n");
}

/* The first words are those of the registers, before and after. */
static void registers(void)
{
    seL4_Word badge = 0;
    struct camkes_registers first = {{20, 21, 22, 23}};
    const seL4_MessageInfo_t info = seL4_MessageInfo_new(9, 0, 0, 2);
    set_words(10);
    seL4_MessageInfo_t got = camkes_platform_call_registers(ENDPOINT, info, &first);
    need(seL4_MessageInfo_get_label(got) == 10 && first.word[0] == 120 && first.word[3] == 123,
         "the answer to a call");
    need_done("call 7: 9 of 2 20 21 22 23 14\n");
    set_words(10);
    got = camkes_platform_reply_receive_registers(ENDPOINT, info, &badge, &first);
    need(seL4_MessageInfo_get_label(got) == 10 && first.word[0] == 220 && first.word[3] == 223 &&
             badge == 6,
         "the message after a reply");
    need_done(WITH "reply and receive 7: 9 of 2 120 121 122 123 14\n");
    struct {
        struct camkes_registers registers;
        seL4_Word after;
    } words = {.after = 99};
    set_words(10);
    camkes_registers_from_buffer(&words.registers);
    need(words.after == 99, "more than the first words");
    set_words(40);
    camkes_registers_to_buffer(&words.registers);
    need(seL4_GetMR(CAMKES_REGISTERS) == 44, "more than the first words");
    seL4_SetMR(CAMKES_REGISTERS, 14);
    need_words(10);
}

void set_putchar(void (*putchar)(int character));

static void others(void)
{
    set_putchar(NULL);
    need_done("");
    expirations = 3;
    need(camkes_platform_now() == 5000000000, "the time");
    need(camkes_platform_timer_expirations(TIMER) == 3, "expirations");
    camkes_platform_work(4);
    camkes_platform_work_between(4, 6);
    camkes_platform_timer_arm(TIMER, 5, 6);
    camkes_platform_write("texts", 4);
    camkes_exit_status(-3);
    camkes_point();
    need_done("work 4\nwork 4 to 6\narm 32 5 6\nwrite text\nexit -3\npoint\n");
    set_words(0);
    camkes_platform_timer_await(TIMER, NOTIFICATION, 2, 7);
    need_done("");
    camkes_platform_timer_await(TIMER, NOTIFICATION, 4, 7);
    need_done("wait 33: 0 of 0 0 1 2 3 4\nwait 33: 0 of 0 100 101 102 103 104\n");
    seL4_CPtr slot = SLOT;
#if CAMKES_MCS
    need(camkes_platform_save_caller(&slot) == seL4_NoError && slot == REPLY && self.reply == SLOT,
         "reply objects are exchanged");
    camkes_platform_delete(SLOT);
    camkes_platform_restart(&self, camkes_platform_end_thread);
    camkes_platform_end_thread();
    need(camkes_platform_keep_reply(&self), "it gets a reply");
    need_done("delete 0 31 64\nrestart 12\nkeep 12\n");
    need(!camkes_platform_is_passive(), "a thread with a context");
    self.passive = true;
    need(camkes_platform_is_passive(), "one without");
#else
    need(camkes_platform_save_caller(&slot) == seL4_DeleteFirst, "the error of the kernel");
    need_done("save 0 31 64\n");
#endif
}

static void on_trap(int number)
{
    (void)number;
    siglongjmp(trapped, 1);
}

/* Neither returns. */
static void ends(void)
{
    void (*volatile functions[])(void) = {camkes_platform_fault, camkes_platform_halt};
    const struct sigaction action = {.sa_handler = on_trap};
    (void)sigaction(SIGILL, &action, NULL);
    (void)sigaction(SIGTRAP, &action, NULL);
    for (volatile unsigned i = 0; i < 2; i++) {
        if (sigsetjmp(trapped, 1) == 0) {
            functions[i]();
            need(false, "the thread goes on");
        }
        need_done(i == 0 ? "" : "halt\n");
    }
}

int main(void)
{
#if CAMKES_MCS
    camkes_set_self(&self);
#endif
    messages();
    registers();
    others();
    ends();
    printf("good\n");
    return 0;
}
