/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: the threads of address space "/*? me.name ?*/". */
#include <camkes/thread.h>

/*- for c_name, name in me.threads -*/
extern struct camkes_thread /*? c_name ?*/;
/*- endfor -*/

struct camkes_thread *const camkes_threads[] = {
/*- for c_name, name in me.threads -*/
    &/*? c_name ?*/, /* /*? name ?*/ */
/*- endfor -*/
};
const unsigned camkes_thread_count = sizeof camkes_threads / sizeof *camkes_threads;
