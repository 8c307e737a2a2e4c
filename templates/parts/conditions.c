/*- for monitor in me.monitors -*/

/* The lock of the CPIs of a monitor. */
static _Atomic uintptr_t /*? monitor ?*/;
/*- endfor -*/
/*- for condition in me.conditions -*/

/* /*? condition.name ?*/ with helpers: /*? condition.origin ?*/ */
static const struct camkes_waiter /*? condition.interface ?*/__waiters[] = {
/*- for waiter in condition.waiters -*/
    {.thread = &/*? waiter.thread ?*/, .manager = /*? waiter.manager ?*/},
/*- endfor -*/
};
static struct camkes_condition /*? condition.interface ?*/__condition = {
    .name = "/*? condition.name ?*/",
    .value = /*? condition.value ?*/,
    .waiter = /*? condition.interface ?*/__waiters,
    .waiters = /*? condition.waiters | length ?*/,
};
/*- endfor -*/
/*- for first, group in me.groups -*/

/* What priorities can be lent among, with /*? first ?*/. */
/*- if group.parties -*/
static struct camkes_party /*? first ?*/__parties[] = {
/*- for party in group.parties -*/
    { /* /*? loop.index0 ?*/: /*? party.comment ?*/ */
        .name = "/*? party.name ?*/",
        .context = /*? party.context ?*/,
        .index = /*? party.index ?*/,
        .lock = /*? 'CAMKES_NO_PARTY' if party.lock is none else party.lock ?*/,
        .base = /*? party.base ?*/,
/*- if party.highest -*/
        .highest = /*? party.highest ?*/,
/*- endif -*/
        .effective = /*? party.base ?*/,
        .manager = /*? party.manager ?*/,
        .reply = /*? party.reply ?*/,
    },
/*- endfor -*/
};
/*- endif -*/
/*- if group.ways -*/
static const struct camkes_way /*? first ?*/__ways[] = {
/*- for way in group.ways -*/
    {.from = /*? way.start ?*/, .to = /*? way.end ?*/, .slot = /*? way.slot ?*/},
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
static struct camkes_sleeper /*? first ?*/__sleepers[] = {
/*- for sleeper in group.sleepers -*/
    { /* /*? sleeper.comment ?*/ */
        .condition = /*? sleeper.condition ?*/,
        .thread = /*? sleeper.thread ?*/,
        .origin = /*? 'CAMKES_NO_ROUTE' if sleeper.origin is none else sleeper.origin ?*/,
        .party = /*? 'CAMKES_NO_PARTY' if sleeper.party is none else sleeper.party ?*/,
        .parties = /*? sleeper.parties ?*/,
        .priority = /*? sleeper.priority ?*/,
        .reply = /*? sleeper.reply ?*/,
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
/*- if group.parties -*/
    .party = /*? first ?*/__parties,
    .parties = /*? group.parties | length ?*/,
/*- endif -*/
/*- if group.ways -*/
    .way = /*? first ?*/__ways,
    .ways = /*? group.ways | length ?*/,
/*- endif -*/
/*- if group.conditions -*/
    .condition = /*? first ?*/__lenders,
    .conditions = /*? group.conditions | length ?*/,
    .sleeper = /*? first ?*/__sleepers,
    .sleepers = /*? group.sleepers | length ?*/,
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
static struct camkes_member /*? me.band.interface ?*/__members[] = {
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
