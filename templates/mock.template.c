/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: mocks of the interfaces of component /*? me.component ?*/. A function of the
 * component's own takes the place of a mock. */
#include "mocks.h"

#include <camkes/instance.h>
/*- if me.clients -*/
#include <camkes/message.h>
#include <camkes/task.h>
/*- endif -*/
/*- if me.mocks -*/

/* The thread does not go on: nothing comes to the gate once it is open. */
static inline void camkes_mock_fail(const char *call, enum camkes_mock_failure how)
{
    if (how == CAMKES_MOCK_CRASHES) {
        (void)printf("camkes-test\tcrash\t%s\t0\t%s\n", call, get_instance_name());
        __builtin_trap(); /* not abort(), as in camkes/test.h */
    }
    (void)printf("camkes-test\tsilence\t%s\t0\t%s\n", call, get_instance_name());
    for (;;) {
        (void)camkes_platform_listen(camkes_self()->instance->start->gate, NULL);
    }
}
/*- endif -*/
/*- for mock in me.mocks -*/
/*- set m = mock.method -*/

struct /*? mock.name ?*/ /*? mock.name ?*/;

void /*? mock.name ?*/_put(struct /*? mock.name ?*/_answer answer)
{
    struct /*? mock.name ?*/ *const mock = &/*? mock.name ?*/;
    if (mock->last - mock->first == CAMKES_MOCK_ANSWERS) {
        camkes_test_stop(__FILE__, __LINE__, "the script of /*? mock.name ?*/ is full");
    }
    mock->script[mock->last++ % CAMKES_MOCK_ANSWERS] = answer;
}

static struct /*? mock.name ?*/_answer /*? mock.name ?*/_next(void)
{
    struct /*? mock.name ?*/ *const mock = &/*? mock.name ?*/;
    if (mock->first == mock->last) {
        return mock->usual;
    }
    struct /*? mock.name ?*/_answer *const answer = &mock->script[mock->first % CAMKES_MOCK_ANSWERS];
    if (answer->/*? mock.times ?*/ > 1) {
        answer->/*? mock.times ?*/--;
    } else {
        mock->first++;
    }
    return *answer;
}

__attribute__((weak)) /*? m.prototype ?*/
{
    struct /*? mock.name ?*/_call *const /*? mock.call ?*/ = &/*? mock.name ?*/.call[/*? mock.name ?*/.calls++ % CAMKES_MOCK_CALLS];
    *(/*? mock.call ?*/) = (struct /*? mock.name ?*/_call){./*? mock.time ?*/ = camkes_now(), ./*? mock.requestor ?*/ = camkes_requestor()};
/*- for statement in mock.record -*/
    /*? statement ?*/
/*- endfor -*/
    const struct /*? mock.name ?*/_answer /*? mock.answer ?*/ = /*? mock.name ?*/_next();
    if (/*? mock.answer ?*/./*? mock.work ?*/ > 0) {
        camkes_work(/*? mock.answer ?*/./*? mock.work ?*/);
    }
    if (/*? mock.answer ?*/./*? mock.fails ?*/ != CAMKES_MOCK_ANSWERS_CALL) {
        camkes_mock_fail("/*? mock.interface ?*/./*? m.name ?*/", /*? mock.answer ?*/./*? mock.fails ?*/);
    }
/*- for statement in mock.reply -*/
    /*? statement ?*/
/*- endfor -*/
}
/*- endfor -*/
/*- if me.clients -*/

static struct camkes_mock_step camkes_mock_script[CAMKES_MOCK_ANSWERS];
static unsigned camkes_mock_scripted, camkes_mock_made;
/*- endif -*/
/*- for client in me.clients -*/
/*- set m = client.method -*/
/*- set step = client.step -*/
/*- set answer = client.answer -*/

struct /*? client.name ?*/ /*? client.name ?*/;

void /*? client.name ?*/_put(struct /*? client.name ?*/_call call, const char *file, int line)
{
    struct /*? client.name ?*/ *const mock = &/*? client.name ?*/;
    if (camkes_mock_scripted == CAMKES_MOCK_ANSWERS) {
        camkes_test_stop(file, line, "the script of /*? me.component ?*/ is full");
    }
    mock->script[mock->scripted] = (struct /*? client.name ?*/_step){.call = call, .file = file, .line = line};
    camkes_mock_script[camkes_mock_scripted] = (struct camkes_mock_step){/*? loop.index0 ?*/, mock->scripted};
    mock->scripted++;
    camkes_mock_scripted++;
}
/*- if client.expected -*/

void /*? client.name ?*/_check(struct /*? client.name ?*/_expected expected, const char *file, int line)
{
    struct /*? client.name ?*/ *const mock = &/*? client.name ?*/;
    if (mock->scripted == 0) {
        camkes_test_stop(file, line, "/*? client.name ?*/_expect() comes after /*? client.name ?*/_call()");
    }
    mock->script[mock->scripted - 1].expected = expected;
    mock->script[mock->scripted - 1].expects = line;
}
/*- endif -*/

/* Makes a call; true: it is not to be made again. */
static bool /*? client.name ?*/_make(struct /*? client.name ?*/_step */*? step ?*/)
{
/*- for statement in client.before -*/
    /*? statement ?*/
/*- endfor -*/
    if (/*? step ?*/->call./*? client.work ?*/ > 0) {
        camkes_work(/*? step ?*/->call./*? client.work ?*/);
    }
    const uint64_t /*? client.began ?*/ = camkes_now();
    /*? client.result ~ ' = ' if client.result ?*//*? client.interface ?*/_/*? m.name ?*/(/*? client.arguments ?*/);
    struct /*? client.name ?*/_answer *const /*? answer ?*/ = &/*? client.name ?*/.answer[/*? client.name ?*/.answers++ % CAMKES_MOCK_CALLS];
    */*? answer ?*/ = (struct /*? client.name ?*/_answer){./*? client.time ?*/ = camkes_now()};
    /*? answer ?*/->/*? client.response ?*/ = /*? answer ?*/->/*? client.time ?*/ - /*? client.began ?*/;
/*- for statement in client.record -*/
    /*? statement ?*/
/*- endfor -*/
    camkes_mock_within(/*? answer ?*/->/*? client.response ?*/, /*? step ?*/->call./*? client.within ?*/, /*? step ?*/->file, /*? step ?*/->line, "/*? client.interface ?*/./*? m.name ?*/");
/*- if client.checks -*/
    if (/*? step ?*/->expects != 0) {
/*- for statement in client.checks -*/
        /*? statement ?*/
/*- endfor -*/
    }
/*- endif -*/
/*- for statement in client.after -*/
    /*? statement ?*/
/*- endfor -*/
    if (/*? step ?*/->call./*? client.times ?*/ > 1) {
        /*? step ?*/->call./*? client.times ?*/--;
        return false;
    }
    return true;
}
/*- endfor -*/
/*- if me.clients -*/

bool camkes_mock_next(void)
{
    if (camkes_mock_made == camkes_mock_scripted) {
        return false;
    }
    const struct camkes_mock_step step = camkes_mock_script[camkes_mock_made];
    bool over = true;
    switch (step.method) {
/*- for client in me.clients -*/
    case /*? loop.index0 ?*/:
        over = /*? client.name ?*/_make(&/*? client.name ?*/.script[step.index]);
        break;
/*- endfor -*/
    default:
        break; /* there is no other */
    }
    if (over) {
        camkes_mock_made++;
    }
    if (camkes_mock_made == camkes_mock_scripted) {
        camkes_test_say("played", __FILE__, __LINE__, get_instance_name());
    }
    return true;
}

__attribute__((weak)) int run(void)
{
    const struct camkes_task *const task = camkes_self()->task;
    const bool periodic = task != NULL && task->period > 0;
    if (camkes_mock_scripted == 0) {
        camkes_test_say("empty", __FILE__, __LINE__, get_instance_name());
    } else if (periodic) {
        camkes_test_say("script", __FILE__, __LINE__, get_instance_name());
    }
    while (periodic ? camkes_next_job() : camkes_mock_made < camkes_mock_scripted) {
        (void)camkes_mock_next();
    }
    return 0;
}
/*- endif -*/
