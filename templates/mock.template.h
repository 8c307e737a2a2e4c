/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: mocks of what component /*? me.component ?*/ provides. */
#pragma once

#include <camkes.h>
#include <camkes/mock.h>

#ifdef __cplusplus
extern "C" {
#endif
/*- for mock in me.mocks -*/

/*
 * /*? mock.interface ?*/./*? mock.method.name ?*/ (/*? mock.method.origin ?*/).
 *
 *     /*? mock.name ?*/_answer(/*? mock.example ?*/);    the next answer of the script
 *     /*? mock.name ?*/_usually(/*? mock.example ?*/);   the answer once the script is over
 *     /*? mock.name ?*/.calls                       how many calls came
 *     /*? mock.name ?*/.call[n]                     call n: its time and parameters
 */
struct /*? mock.name ?*/_call {
    uint64_t /*? mock.time ?*/;   /* of its arrival, in nanoseconds since boot */
    int /*? mock.requestor ?*/;   /* the task it is made for, or -1 */
/*- for member in mock.recorded -*/
    /*? member ?*/;
/*- endfor -*/
};

struct /*? mock.name ?*/_answer {
/*- for member in mock.answered -*/
    /*? member ?*/;
/*- endfor -*/
    uint64_t /*? mock.work ?*/;   /* processor time that the answer takes, in nanoseconds */
    unsigned /*? mock.times ?*/;  /* calls that it answers; 0: one */
    enum camkes_mock_failure /*? mock.fails ?*/;
};

extern struct /*? mock.name ?*/ {
    unsigned calls;
    struct /*? mock.name ?*/_call call[CAMKES_MOCK_CALLS];
    struct /*? mock.name ?*/_answer script[CAMKES_MOCK_ANSWERS];
    struct /*? mock.name ?*/_answer usual;
    unsigned first;
    unsigned last;
} /*? mock.name ?*/;

void /*? mock.name ?*/_put(struct /*? mock.name ?*/_answer answer);
#define /*? mock.name ?*/_answer(...) /*? mock.name ?*/_put((struct /*? mock.name ?*/_answer){__VA_ARGS__})
#define /*? mock.name ?*/_usually(...) \
    ((void)(/*? mock.name ?*/.usual = (struct /*? mock.name ?*/_answer){__VA_ARGS__}))
/*- endfor -*/

#ifdef __cplusplus
}
#endif
