/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: instance "/*? me.name ?*/" (/*? me.origin ?*/). */
#include <camkes.h>
#include <camkes/event.h>
#include <camkes/instance.h>
#include <camkes/message.h>
#include <camkes/request.h>
/*- if me.band -*/
#include <camkes/scheduler.h>
/*- endif -*/
#include <camkes/semaphore.h>
#include <camkes/serve.h>
#include <camkes/task.h>
#include <camkes/timer.h>
#include <limits.h>

static struct camkes_start camkes__start = {
    .gate = /*? me.start.gate ?*/,
    .ready = /*? me.start.ready ?*/,
    .interfaces = /*? me.start.interfaces ?*/,
/*- for name, slot in me.start.lent -*/
    ./*? name ?*/ = /*? slot ?*/,
/*- endfor -*/
};
static const struct camkes_instance camkes__instance = {
    .name = "/*? me.name ?*/",
    .start = &camkes__start,
/*- for name, value in me.members -*/
    ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
};
/*- for thread in me.threads -*/
struct camkes_thread /*? thread.c_name ?*/;
/*- endfor -*/

const char *get_instance_name(void)
{
    return camkes__instance.name;
}

int get_instance_affinity(void)
{
    return /*? me.affinity ?*/;
}
/*- for attribute in me.attributes if attribute.macro -*/
/*? attribute.declaration ?*/ = /*? attribute.macro | join('\n') ?*/;
/*- endfor -*/
/*- for interface in me.interfaces -*/

/* /*? interface.kind ?*/ /*? interface.type ?*/ /*? interface.name ?*/: /*? interface.origin ?*/ */
static camkes_error_handler_t /*? interface.name ?*/__error_handler;

/*? '__attribute__((weak)) ' if interface.rendered ?*/camkes_error_handler_t /*? interface.name ?*/_register_error_handler(camkes_error_handler_t handler)
{
    const camkes_error_handler_t before = /*? interface.name ?*/__error_handler;
    /*? interface.name ?*/__error_handler = handler;
    return before;
}
/*- endfor -*/
/*- for name in me.plain_interfaces -*/

int /*? name ?*/__run(void) __attribute__((weak));
/*- endfor -*/
/*- include 'parts/conditions.c' -*/
/*- include 'parts/sync.c' -*/
/*- include 'parts/memory.c' -*/
/*- include 'parts/events.c' -*/
/*- include 'parts/timers.c' -*/
/*- include 'parts/rpc-from.c' -*/
/*- include 'parts/rpc-to.c' -*/
/*- include 'parts/direct.c' -*/
/*- include 'parts/start.c' -*/
/*- include 'parts/threads.c' -*/
