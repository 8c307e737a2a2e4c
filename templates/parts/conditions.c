/*- for monitor in me.monitors -*/

/* The lock of the CPIs of a monitor. */
static _Atomic uintptr_t /*? monitor ?*/;
/*- endfor -*/
/*- for condition in me.conditions -*/

/* /*? condition.name ?*/ with helpers: /*? condition.origin ?*/ */
static const struct camkes_condition_user /*? condition.interface ?*/__users[] = {
/*- for user in condition.users -*/
    {.thread = &/*? user.thread ?*/, .manager = /*? user.manager ?*/},
/*- endfor -*/
};
static struct camkes_condition /*? condition.interface ?*/__condition = {
    .name = "/*? condition.name ?*/",
    .value = /*? condition.value ?*/,
    .user = /*? condition.interface ?*/__users,
    .users = /*? condition.users | length ?*/,
};
/*- endfor -*/
/*- for first, group in me.groups -*/

/* What priorities can be lent among, with /*? first ?*/. */
/*- if group.members -*/
static struct camkes_member /*? first ?*/__members[] = {
/*- for member in group.members -*/
    { /* /*? loop.index0 ?*/: /*? member.comment ?*/ */
        .name = "/*? member.name ?*/",
        .context = /*? member.context ?*/,
        .index = /*? member.index ?*/,
        .lock = /*? 'CAMKES_NO_MEMBER' if member.lock is none else member.lock ?*/,
        .base = /*? member.base ?*/,
/*- if member.highest -*/
        .highest = /*? member.highest ?*/,
/*- endif -*/
        .effective = /*? member.base ?*/,
        .manager = /*? member.manager ?*/,
        .reply = /*? member.reply ?*/,
    },
/*- endfor -*/
};
/*- endif -*/
/*- if group.paths -*/
static const struct camkes_path /*? first ?*/__paths[] = {
/*- for path in group.paths -*/
    {.from = /*? path.start ?*/, .to = /*? path.end ?*/, .slot = /*? path.slot ?*/},
/*- endfor -*/
};
/*- endif -*/
/*- if group.conditions -*/
static struct camkes_lender /*? first ?*/__lenders[] = {
/*- for condition in group.conditions -*/
    {
        .name = "/*? condition.name ?*/",
        .id = /*? condition.id ?*/,
/*- if condition.in_monitor -*/
        .in_monitor = true,
/*- endif -*/
        .helpers = /*? condition.helpers | length ?*/,
/*- if condition.helpers -*/
        .helper = (const uint16_t[]){/*? condition.helpers | join(', ') ?*/},
/*- endif -*/
    },
/*- endfor -*/
};
static struct camkes_waiter /*? first ?*/__waiters[] = {
/*- for waiter in group.waiters -*/
    { /* /*? waiter.comment ?*/ */
        .condition = /*? waiter.condition ?*/,
        .thread = /*? waiter.thread ?*/,
        .origin = /*? 'CAMKES_NO_ROUTE' if waiter.origin is none else waiter.origin ?*/,
        .member = /*? 'CAMKES_NO_MEMBER' if waiter.member is none else waiter.member ?*/,
        .members = /*? waiter.members ?*/,
        .priority = /*? waiter.priority ?*/,
        .reply = /*? waiter.reply ?*/,
    },
/*- endfor -*/
};
/*- endif -*/
static struct camkes_group /*? first ?*/__group = {
    .manager = /*? group.manager ?*/,
/*- if group.timer -*/
    .timer = /*? group.timer[0] ?*/,
    .alarm = {.fired = /*? group.timer[1] ?*/, .manager = /*? group.timer[2] ?*/},
/*- endif -*/
/*- if group.members -*/
    .member = /*? first ?*/__members,
    .members = /*? group.members | length ?*/,
/*- endif -*/
/*- if group.paths -*/
    .path = /*? first ?*/__paths,
    .paths = /*? group.paths | length ?*/,
/*- endif -*/
/*- if group.conditions -*/
    .condition = /*? first ?*/__lenders,
    .conditions = /*? group.conditions | length ?*/,
    .waiter = /*? first ?*/__waiters,
    .waiters = /*? group.waiters | length ?*/,
/*- endif -*/
};
/*- endfor -*/
/*- if me.helper -*/

/* The control thread, whose priority is set while it executes. */
static struct camkes_context camkes__helper_context = {
    .name = "/*? me.helper.name ?*/",
    .id = /*? me.helper.context ?*/,
    .route = /*? me.helper.route ?*/,
    .base = /*? me.helper.base ?*/,
    .request = /*? me.helper.base ?*/,
    .effective = /*? me.helper.base ?*/,
    .manager_as_worker = /*? me.helper.settle ?*/,
    .worker = &/*? me.helper.thread ?*/,
};
static struct camkes_helper camkes__helper = {
    .context = &camkes__helper_context,
    .lowest = /*? me.helper.lowest ?*/,
    .highest = /*? me.helper.highest ?*/,
/*- if me.helper.scheduled -*/
    .scheduled = true,
/*- endif -*/
    .manager = /*? me.helper.manager ?*/,
    .authority = /*? me.helper.authority ?*/,
};
/*- endif -*/
/*- if me.band -*/

/* The tasks that it orders. */
static struct camkes_band_task /*? me.band.interface ?*/__members[] = {
/*- for member in me.band.members -*/
    {
/*- for name, value in member -*/
        ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
    },
/*- endfor -*/
};
static struct camkes_band /*? me.band.interface ?*/__band = {
/*- for name, value in me.band.fields -*/
    ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
};
/*- endif -*/
