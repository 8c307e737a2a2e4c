/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: mocks of what component /*? me.component ?*/ provides. A handler of the
 * component's own takes the place of a mock. */
#include "mocks.h"

#include <camkes/instance.h>

/* The thread does not go on: nothing comes to the gate once it is open. */
static inline void camkes_mock_fail(const char *call, enum camkes_mock_failure how)
{
    if (how == CAMKES_MOCK_CRASHES) {
        printf("camkes-test\tcrash\t%s\t0\t%s\n", call, get_instance_name());
        abort();
    }
    printf("camkes-test\tsilence\t%s\t0\t%s\n", call, get_instance_name());
    for (;;) {
        (void)camkes_platform_listen(camkes_self()->instance->start->gate, NULL);
    }
}
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
    mock->first += answer->/*? mock.times ?*/ <= 1;
    answer->/*? mock.times ?*/ -= answer->/*? mock.times ?*/ > 1;
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
    if (/*? mock.answer ?*/./*? mock.work ?*/) {
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
