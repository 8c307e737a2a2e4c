/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: mocks of the interfaces of component /*? me.component ?*/. */
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
/*- for client in me.clients -*/

/*
 * /*? client.interface ?*/./*? client.method.name ?*/ (/*? client.method.origin ?*/).
 *
 *     /*? client.name ?*/_call(/*? client.example ?*/);    the next call of the script
/*- if client.expected -*/
 *     /*? client.name ?*/_expect(...);      what it has to answer
/*- endif -*/
 *     /*? client.name ?*/.answers           how many answers came
 *     /*? client.name ?*/.answer[n]         answer n: its times and values
 */
struct /*? client.name ?*/_call {
/*- for member in client.scripted -*/
    /*? member ?*/;
/*- endfor -*/
    uint64_t /*? client.work ?*/;   /* processor time before the call, in nanoseconds */
    uint64_t /*? client.within ?*/; /* longest time to the answer, in nanoseconds; 0: any */
    unsigned /*? client.times ?*/;  /* how often it is made; 0: once */
};

struct /*? client.name ?*/_answer {
    uint64_t /*? client.time ?*/;     /* of its arrival, in nanoseconds since boot */
    uint64_t /*? client.response ?*/; /* nanoseconds from the call to it */
/*- for member in client.recorded -*/
    /*? member ?*/;
/*- endfor -*/
};
/*- if client.expected -*/

struct /*? client.name ?*/_expected {
/*- for member in client.expected -*/
    /*? member ?*/;
/*- endfor -*/
};
/*- endif -*/

extern struct /*? client.name ?*/ {
    unsigned answers;
    struct /*? client.name ?*/_answer answer[CAMKES_MOCK_CALLS];
    struct /*? client.name ?*/_step {
        struct /*? client.name ?*/_call call;
/*- if client.expected -*/
        struct /*? client.name ?*/_expected expected;
        int expects; /* the line that says what is expected, 0: none */
/*- endif -*/
        const char *file;
        int line;
    } script[CAMKES_MOCK_ANSWERS];
    unsigned scripted;
} /*? client.name ?*/;

void /*? client.name ?*/_put(struct /*? client.name ?*/_call call, const char *file, int line);
#define /*? client.name ?*/_call(...) \
    /*? client.name ?*/_put((struct /*? client.name ?*/_call){__VA_ARGS__}, __FILE__, __LINE__)
/*- if client.expected -*/
void /*? client.name ?*/_check(struct /*? client.name ?*/_expected expected, const char *file, int line);
#define /*? client.name ?*/_expect(...) \
    /*? client.name ?*/_check((struct /*? client.name ?*/_expected){__VA_ARGS__}, __FILE__, __LINE__)
/*- endif -*/
/*- endfor -*/
/*- if me.clients -*/

/* Makes the next call of the script; false: there is none. mocks.c has a run() that makes all of them: a
 * periodic task one in each job. */
bool camkes_mock_next(void);
/*- endif -*/

#ifdef __cplusplus
}
#endif
