/*- for condition in me.conditions -*/

/* /*? condition.name ?*/ with helpers: /*? condition.origin ?*/ */
static struct camkes_waiter /*? condition.interface ?*/__waiters[] = {
/*- for waiter in condition.waiters -*/
    {.thread = &/*? waiter.thread ?*/, .manager = /*? waiter.manager ?*/, .reply = /*? waiter.reply ?*/},
/*- endfor -*/
};
/*- if condition.helpers -*/
static struct camkes_lender /*? condition.interface ?*/__helpers[] = {
/*- for helper in condition.helpers -*/
    {.manager = /*? helper.manager ?*/, .base = /*? helper.base ?*/}, /* /*? helper.task ?*/ */
/*- endfor -*/
};
/*- endif -*/
static struct camkes_condition /*? condition.interface ?*/__condition = {
    .name = "/*? condition.name ?*/",
    .id = /*? condition.id ?*/,
    .value = /*? condition.value ?*/,
    .manager = /*? condition.manager ?*/,
    .waiter = /*? condition.interface ?*/__waiters,
    .waiters = /*? condition.waiters | length ?*/,
/*- if condition.helpers -*/
    .helper = /*? condition.interface ?*/__helpers,
    .helpers = /*? condition.helpers | length ?*/,
/*- endif -*/
};
/*- endfor -*/
/*- if me.helper -*/

/* The control thread, which others can lend priorities to. */
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
static uint8_t camkes__helper_lent[/*? me.helper.conditions | length ?*/]; /* /*? me.helper.conditions | join(', ') ?*/ */
static struct camkes_helper camkes__helper = {
    .name = "/*? me.helper.name ?*/",
    .context = &camkes__helper_context,
    .highest = /*? me.helper.highest ?*/,
    .manager = /*? me.helper.manager ?*/,
    .authority = /*? me.helper.authority ?*/,
    .lent = camkes__helper_lent,
    .conditions = /*? me.helper.conditions | length ?*/,
};
/*- endif -*/
