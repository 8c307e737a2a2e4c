/*- from 'parts/marshal.c' import put, get, release, message_new, message_received -*/
/*- for rpc in me.rpc_to -*/
/*- set place = rpc.interface ~ '__place' -*/

/* provides /*? rpc.interface ?*/: /*? rpc.origin ?*/ */
static struct camkes_sender /*? rpc.interface ?*/__senders[] = {
/*- for id, name in rpc.senders -*/
    {.id = /*? id ?*/, .name = "/*? name ?*/"},
/*- endfor -*/
};
static const struct camkes_place /*? place ?*/ = {
    .instance = "/*? me.name ?*/",
    .interface = "/*? rpc.interface ?*/",
    .handler = &/*? rpc.interface ?*/__error_handler,
    .sender = /*? rpc.interface ?*/__senders,
    .senders = /*? rpc.senders | length ?*/,
};

seL4_Word /*? rpc.interface ?*/_get_sender_id(void)
{
    return camkes_self()->sender_id;
}
/*- for dispatch in rpc.dispatches -*/
/*- set serve = rpc.interface ~ '__serve' ~ dispatch.suffix -*/
/*- for method in dispatch.procedure.methods -*/
/*- set m = method.message -*/
/*# parameters read in place, and parameters on the heap #*/
/*- set viewed = [] if rpc.buffer else method.parameters | selectattr('viewed') | list -*/
/*- set heap = method.parameters | reject('in', viewed) | rejectattr('shape.value', 'equalto', 'scalar') | list -*/

/* /*? method.origin ?*/ */
static seL4_MessageInfo_t /*? serve ?*/_/*? method.name ?*/(struct camkes_thread */*? method.thread ?*/, struct camkes_message */*? m ?*/)
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
/*- if rpc.buffer -*/
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* values read from the dataport are not read again */
/*- endif -*/
/*- set ends = m ~ '->error == CAMKES_MESSAGE_GOOD' if rpc.buffer else 'camkes_message_ends(' ~ m ~ ')' -*/
/*- set begin = ' || !camkes_begin_request(' ~ method.thread ~ ', ' ~ m ~ ')' if rpc.cpi is not none else '' -*/
    const bool /*? method.good ?*/ = /*? ends ?*/ || camkes_message_ignored(/*? m ?*/, &/*? place ?*/, "/*? method.name ?*/");
    if (!/*? method.good ?*//*? begin ?*/) {
/*- for p in heap -*/
        /*? release(p.shape, p.name, p.name ~ '_sz') ?*/
/*- endfor -*/
        return camkes_refuse(/*? method.thread ?*/, &/*? place ?*/, /*? m ?*/->error);
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
/*- if rpc.cpi is not none -*/
    camkes_end_request(/*? method.thread ?*/);
/*- endif -*/
    return camkes_message_good(&/*? method.reply ?*/, &/*? place ?*/, "/*? method.name ?*/")
               ? /*? 'seL4_MessageInfo_new(0, 0, 0, 0)' if rpc.buffer else 'camkes_message_info(&' ~ method.reply ~ ')' ?*/
               : camkes_message_none();
}
/*- endfor -*/

static seL4_MessageInfo_t /*? serve ?*//*? '__of_type' if rpc.dispatches | length > 1 or dispatch.suffix ?*/(struct camkes_thread *self, unsigned words)
{
/*- if rpc.buffer -*/
    (void)words;
/*- endif -*/
    struct camkes_message message = /*? message_received(rpc.buffer, 'words') ?*/;
/*- if dispatch.procedure.index_type -*/
    /*? dispatch.procedure.index_type ?*/ method = 0;
    camkes_get(&message, &method, sizeof method);
/*- if rpc.buffer -*/
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
/*- endif -*/
    if (message.error == CAMKES_MESSAGE_GOOD) {
        switch (method) {
/*- for method in dispatch.procedure.methods -*/
        case /*? loop.index0 ?*/:
            return /*? serve ?*/_/*? method.name ?*/(self, &message);
/*- endfor -*/
        default:
            break;
        }
    }
    return camkes_message_no_method(self, &message, &/*? place ?*/, method, /*? dispatch.procedure.methods | length ?*/);
/*- elif dispatch.procedure.methods -*/
    return /*? serve ?*/_/*? dispatch.procedure.methods[0].name ?*/(self, &message);
/*- else -*/
    return camkes_message_no_method(self, &message, &/*? place ?*/, 0, 0);
/*- endif -*/
}
/*- endfor -*/
/*- if rpc.dispatches | length > 1 or rpc.dispatches[0].suffix -*/

/* The type of the caller's interface determines the method of a message. */
static seL4_MessageInfo_t /*? rpc.interface ?*/__serve(struct camkes_thread *self, unsigned words)
{
    switch (self->sender_id) {
/*- for dispatch in rpc.dispatches -*/
/*- for sender in dispatch.senders -*/
    case /*? sender ?*/:
/*- endfor -*/
        return /*? rpc.interface ?*/__serve/*? dispatch.suffix ?*/__of_type(self, words);
/*- endfor -*/
    default:
        return camkes_refuse(self, &/*? place ?*/, CAMKES_MESSAGE_BADGE);
    }
}
/*- endif -*/
/*- if rpc.cpi is not none -*/
/*- set cpi = rpc.cpi -*/

/* The contexts of its requests, and the callers that may send them. */
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
    { /* /*? caller.comment ?*/ */
        .sender_id = /*? caller.sender_id ?*/,
        .context = /*? caller.context ?*/,
        .base = /*? caller.base ?*/,
        .bound = /*? caller.bound ?*/,
        .task_bytes = /*? caller.tasks | length ?*/,
        .tasks = (const uint8_t[]){/*? caller.tasks | join(', ') ?*/},
    },
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
    .place = &/*? place ?*/,
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
    .threads = /*? cpi.pool | length ?*/,
/*- endif -*/
/*- if cpi.manager -*/
    .manager = /*? cpi.manager ?*/,
    .authority = /*? cpi.authority ?*/,
    .queue = /*? rpc.interface ?*/__queue,
/*- endif -*/
};
/*- endif -*/
/*- endfor -*/
