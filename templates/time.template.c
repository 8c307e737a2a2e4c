/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: what the time manager configures. */
#include <camkes/instance.h>
#include <camkes/label.h>
#include <camkes/time_manager.h>
/*- for server in me.servers -*/
/*- if server.holders -*/

/* threads that can execute on the budget of /*? server.name ?*/ */
static const seL4_CPtr holders_/*? loop.index0 ?*/[] = {/*? server.holders | join(', ') ?*/};
/*- endif -*/
/*- endfor -*/
/*- if me.servers -*/

static const struct camkes_server servers[] = {
/*- for server in me.servers -*/
    {
        /* /*? server.name ?*/ */
/*- for field, value in server.members -*/
        ./*? field ?*/ = /*? value ?*/,
/*- endfor -*/
/*- if server.holders -*/
        .holder = holders_/*? loop.index0 ?*/,
        .holders = /*? server.holders | length ?*/,
/*- endif -*/
    },
/*- endfor -*/
};

static const seL4_CPtr controls[] = {/*? me.controls | join(', ') ?*/};
/*- endif -*/
/*- for task in me.critical -*/
/*- if task.requests -*/

/* requests of /*? task.name ?*/ */
static const struct camkes_requested requests_/*? loop.index0 ?*/[] = {
/*- for request in task.requests -*/
    {
/*- for field, value in request -*/
        ./*? field ?*/ = /*? value ?*/,
/*- endfor -*/
    },
/*- endfor -*/
};
/*- endif -*/
/*- endfor -*/
/*- if me.critical -*/

static const struct camkes_critical critical[] = {
/*- for task in me.critical -*/
    {
        /* /*? task.name ?*/ */
/*- for field, value in task.members -*/
        ./*? field ?*/ = /*? value ?*/,
/*- endfor -*/
/*- if task.server is not none -*/
        .server = &servers[/*? task.server ?*/],
/*- endif -*/
/*- if task.requests -*/
        .request = requests_/*? loop.index0 ?*/,
        .requests = /*? task.requests | length ?*/,
/*- endif -*/
    },
/*- endfor -*/
};

static struct camkes_idle idle = {
/*- for field, value in me.idle -*/
    ./*? field ?*/ = /*? value ?*/,
/*- endfor -*/
};
/*- endif -*/

static struct camkes_time_manager manager = {
/*- if me.servers -*/
    .server = servers,
    .servers = sizeof servers / sizeof *servers,
    .control = controls,
    .controls = sizeof controls / sizeof *controls,
/*- endif -*/
/*- for field, value in me.members -*/
    ./*? field ?*/ = /*? value ?*/,
/*- endfor -*/
/*- if me.critical -*/
    .critical = critical,
    .criticals = sizeof critical / sizeof *critical,
/*- endif -*/
};

static const struct camkes_instance instance = {.name = "/*? me.name ?*/"};
/*- for thread in me.threads -*/

struct camkes_thread /*? thread.c_name ?*/ = {
    .name = "/*? me.name ?*/",
    .instance = &instance,
    .start = /*? thread.start ?*/,
    .interface = &/*? thread.interface ?*/,
    .origin = CAMKES_NO_ROUTE,
    .route = CAMKES_NO_ROUTE,
    .label = CAMKES_LABEL_NONE,
/*- for field, value in thread.members -*/
    ./*? field ?*/ = /*? value ?*/,
/*- endfor -*/
};
/*- endfor -*/
/*- include 'parts/threads.c' -*/
