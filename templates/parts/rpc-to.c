/*- from 'parts/marshal.c' import put, get, release, message_new, message_received -*/
/*- for rpc in me.rpc_to -*/
/*- set place = rpc.interface ~ '__place' -*/

/* provides /*? rpc.interface ?*/: /*? rpc.origin ?*/ */
static const struct camkes_place /*? place ?*/ = {
    .instance = "/*? me.name ?*/",
    .interface = "/*? rpc.interface ?*/",
    .handler = &/*? rpc.interface ?*/__error_handler,
};

seL4_Word /*? rpc.interface ?*/_get_sender_id(void)
{
    return camkes_self()->sender_id;
}
/*- for dispatch in rpc.dispatches -*/
/*- set serve = rpc.interface ~ '__serve' ~ dispatch.suffix -*/
/*- for method in dispatch.procedure.methods -*/
/*- set m = method.message -*/
/*# what is looked at in place, and what is on the heap #*/
/*- set viewed = [] if rpc.buffer else method.parameters | selectattr('viewed') | list -*/
/*- set heap = method.parameters | reject('in', viewed) | rejectattr('shape.value', 'equalto', 'scalar') | list -*/

/* /*? method.origin ?*/ */
static unsigned /*? serve ?*/_/*? method.name ?*/(struct camkes_message */*? m ?*/)
{
/*- if viewed -*/
    struct camkes_scratch /*? method.scratch ?*/;
    /*? method.scratch ?*/.used = 0;
/*- endif -*/
/*- for p in method.parameters -*/
/*- if p.shape.value in ('array', 'strings') -*/
    size_t /*? p.name ?*/_sz = 0;
/*- endif -*/
/*- if p in viewed and p.shape.value == 'string' -*/
    const char */*? p.name ?*/ = camkes_view_string(/*? m ?*/, &/*? method.scratch ?*/);
/*- elif p in viewed -*/
    const /*? declare(p.type, '*' ~ p.name) ?*/ =
        camkes_view_array(/*? m ?*/, &/*? method.scratch ?*/, &/*? p.name ?*/_sz, sizeof(/*? p.type ?*/));
/*- else -*/
/*- if p.shape.value == 'scalar' -*/
    /*? declare(p.type, p.name) ?*/ = {0};
/*- elif p.shape.value == 'string' -*/
    char */*? p.name ?*/ = NULL;
/*- elif p.shape.value == 'array' -*/
    /*? declare(p.type, '*' ~ p.name) ?*/ = NULL;
/*- else -*/
    char **/*? p.name ?*/ = NULL;
/*- endif -*/
/*- if p.goes -*/
    /*? get(m, p.shape, p.type, p.name, p.name ~ '_sz') ?*/
/*- endif -*/
/*- endif -*/
/*- endfor -*/
    if (!camkes_message_good(/*? m ?*/, &/*? place ?*/, "/*? method.name ?*/")) {
/*- for p in heap -*/
        /*? release(p.shape, p.name, p.name ~ '_sz') ?*/
/*- endfor -*/
        return 0;
    }
    /*? declare(method.returns, method.result) ~ ' = ' if method.returns ?*//*? rpc.interface ?*/_/*? method.name ?*/(/*? method.parameters | map(attribute='from_locals') | join(', ') ?*/);
    struct camkes_message /*? method.reply ?*/ = /*? message_new(rpc.buffer) ?*/;
/*- if method.returns -*/
    /*? put(method.reply, method.return_shape, method.returns, method.result, '') ?*/
/*- endif -*/
/*- for p in method.parameters if p.comes -*/
    /*? put(method.reply, p.shape, p.type, p.name, p.name ~ '_sz') ?*/
/*- endfor -*/
/*- for p in heap -*/
    /*? release(p.shape, p.name, p.name ~ '_sz') ?*/
/*- endfor -*/
/*- if method.returns and method.return_shape.value == 'string' -*/
    free(/*? method.result ?*/);
/*- endif -*/
/*- if rpc.buffer -*/
    (void)camkes_message_good(&/*? method.reply ?*/, &/*? place ?*/, "/*? method.name ?*/");
    return 0;
/*- else -*/
    return camkes_message_good(&/*? method.reply ?*/, &/*? place ?*/, "/*? method.name ?*/")
               ? camkes_message_words(&/*? method.reply ?*/)
               : 0;
/*- endif -*/
}
/*- endfor -*/

static unsigned /*? serve ?*//*? '__of_type' if rpc.dispatches | length > 1 or dispatch.suffix ?*/(struct camkes_thread *self, unsigned words)
{
    (void)self;
/*- if rpc.buffer -*/
    (void)words;
/*- endif -*/
    struct camkes_message message = /*? message_received(rpc.buffer, 'words') ?*/;
/*- if dispatch.procedure.index_type -*/
    /*? dispatch.procedure.index_type ?*/ method = /*? dispatch.procedure.methods | length ?*/;
    camkes_get(&message, &method, sizeof method);
    switch (method) {
/*- for method in dispatch.procedure.methods -*/
    case /*? loop.index0 ?*/:
        return /*? serve ?*/_/*? method.name ?*/(&message);
/*- endfor -*/
    default:
        camkes_message_no_method(&/*? place ?*/, method, /*? dispatch.procedure.methods | length ?*/);
        return 0;
    }
/*- elif dispatch.procedure.methods -*/
    return /*? serve ?*/_/*? dispatch.procedure.methods[0].name ?*/(&message);
/*- else -*/
    camkes_message_no_method(&/*? place ?*/, 0, 0);
    (void)message;
    return 0;
/*- endif -*/
}
/*- endfor -*/
/*- if rpc.dispatches | length > 1 or rpc.dispatches[0].suffix -*/

/* The type of the caller's interface decides what a message means. */
static unsigned /*? rpc.interface ?*/__serve(struct camkes_thread *self, unsigned words)
{
    switch (self->sender_id) {
/*- for dispatch in rpc.dispatches -*/
/*- for sender in dispatch.senders -*/
    case /*? sender ?*/:
/*- endfor -*/
        return /*? rpc.interface ?*/__serve/*? dispatch.suffix ?*/__of_type(self, words);
/*- endfor -*/
    default:
        return 0;
    }
}
/*- endif -*/
/*- if rpc.cpi is not none -*/
/*- set cpi = rpc.cpi -*/

/* Who its requests come from, and who may say that. */
static struct camkes_context /*? rpc.interface ?*/__contexts[] = {
/*- for context in cpi.contexts -*/
    {
        .name = "/*? context.name ?*/",
        .id = /*? context.id ?*/,
        .route = /*? context.route ?*/,
        .base = /*? context.base ?*/,
        .request = /*? context.base ?*/,
        .effective = /*? context.base ?*/,
        .reply = /*? context.reply ?*/,
        .manager_as_worker = /*? context.manager ?*/,
/*- if context.worker -*/
        .worker = &/*? context.worker ?*/,
/*- endif -*/
    },
/*- endfor -*/
};
static const struct camkes_caller /*? rpc.interface ?*/__callers[] = {
/*- for caller in cpi.callers -*/
    {.sender_id = /*? caller.sender_id ?*/, .context = /*? caller.context ?*/, .bound = /*? caller.bound ?*/}, /* /*? caller.comment ?*/ */
/*- endfor -*/
};
/*- if cpi.pool -*/
static struct camkes_thread *const /*? rpc.interface ?*/__pool[] = {
/*- for thread in cpi.pool -*/
    &/*? thread ?*/,
/*- endfor -*/
};
/*- endif -*/
/*- if cpi.manager -*/
static uint16_t /*? rpc.interface ?*/__queue[/*? cpi.contexts | length ?*/];
/*- endif -*/
static struct camkes_cpi /*? rpc.interface ?*/__cpi = {
    .name = "/*? cpi.name ?*/",
    .id = /*? cpi.id ?*/,
    .protocol = CAMKES_/*? cpi.protocol ?*/,
    .ceiling = /*? cpi.ceiling ?*/,
    .contexts = /*? cpi.contexts | length ?*/,
    .context = /*? rpc.interface ?*/__contexts,
    .callers = /*? cpi.callers | length ?*/,
    .caller = /*? rpc.interface ?*/__callers,
/*- if cpi.pool -*/
    .pooled = true,
    .pool = /*? rpc.interface ?*/__pool,
/*- endif -*/
/*- if cpi.manager -*/
    .manager = /*? cpi.manager ?*/,
    .authority = /*? cpi.authority ?*/,
    .queue = /*? rpc.interface ?*/__queue,
/*- endif -*/
};
/*- endif -*/
/*- endfor -*/
