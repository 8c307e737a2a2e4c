/*- from 'parts/marshal.c' import put, get, release, message_new -*/
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
    return camkes_sender_id(camkes_self());
}
/*- if rpc.cpi is not none -*/
static struct camkes_cpi /*? rpc.interface ?*/__cpi;
/*- endif -*/
/*# the types of methods' numbers in labels #*/
/*- set numbers = [] if rpc.buffer else rpc.dispatches | map(attribute='procedure.index_type') | select | unique | list -*/
/*- for dispatch in rpc.dispatches -*/
/*- set serve = rpc.interface ~ '__serve' ~ dispatch.suffix -*/
/*- for method in dispatch.procedure.methods -*/
/*- set m = method.message -*/
/*# parameters read in place, and parameters on the heap #*/
/*- set viewed = [] if rpc.buffer else method.parameters | selectattr('viewed') | list -*/
/*- set heap = method.parameters | reject('in', viewed) | rejectattr('shape.value', 'equalto', 'scalar') | list -*/

/* /*? method.origin ?*/ */
/*- set index = dispatch.procedure.index_type -*/
/*- set asked = '' if rpc.buffer else method.request_layout(index) -*/
/*- set answered = '' if rpc.buffer else method.reply_layout -*/
/*- set registers = '&' ~ method.request ~ '->registers' -*/
static void /*? serve ?*/_/*? method.name ?*/(struct camkes_thread */*? method.thread ?*/, struct camkes_received */*? method.request ?*/)
{
/*- if rpc.buffer -*/
    struct camkes_message /*? m ?*/ = camkes_message_at((void *)/*? rpc.buffer ?*/, /*? rpc.buffer ?*/_size);
/*- elif asked -*/
    const struct camkes_layout /*? method.asked ?*/ = /*? asked ?*/;
    struct camkes_registers *const /*? method.storage ?*/ = CAMKES_IS_SHORT(/*? method.asked ?*/.bytes) ? /*? registers ?*/ : NULL;
    if (!CAMKES_IS_SHORT(/*? method.asked ?*/.bytes)) {
        camkes_registers_to_buffer(/*? registers ?*/);
    }
    struct camkes_message /*? m ?*/ = camkes_message_request(/*? method.storage ?*/, /*? method.asked ?*/, /*? method.request ?*/->words);
/*- else -*/
    camkes_registers_to_buffer(/*? registers ?*/);
    struct camkes_message /*? m ?*/ = camkes_message_received(/*? method.request ?*/->words);
/*- endif -*/
/*- if index -*/
    /*? m ?*/.at = camkes_padded(&/*? m ?*/, /*? 'sizeof' if rpc.buffer else 'CAMKES_METHOD_SIZE' ?*/(/*? index ?*/));
/*- endif -*/
/*- if viewed -*/
    struct camkes_scratch /*? method.scratch ?*/;
    /*? method.scratch ?*/.used = 0;
/*- endif -*/
/*- for p in method.parameters -*/
/*- if p.shape.value in ('array', 'strings') -*/
    size_t /*? p.name ?*/_sz = /*? '0' if p.goes else 'CAMKES_NO_SIZE' ?*/;
/*- endif -*/
/*- if p in viewed and p.shape.value == 'string' -*/
    const char */*? p.name ?*/ = camkes_view_string(&/*? m ?*/, &/*? method.scratch ?*/);
/*- elif p in viewed -*/
    const /*? declare(p.type, '*' ~ p.name) ?*/ =
        camkes_view_array(&/*? m ?*/, &/*? method.scratch ?*/, &/*? p.name ?*/_sz, sizeof(/*? p.type ?*/));
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
/*- if p.goes and not asked -*/
    /*? get('&' ~ m, p.shape, p.type, p.name, p.name ~ '_sz') ?*/
/*- endif -*/
/*- endif -*/
/*- endfor -*/
/*- if asked and method.goes -*/
    if (/*? m ?*/.error != CAMKES_MESSAGE_TOO_SHORT) {
/*- for p in method.goes -*/
        CAMKES_TAKE(&/*? m ?*/, /*? p.name ?*/);
/*- endfor -*/
    }
/*- endif -*/
/*- if rpc.buffer -*/
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* what was read of the dataport is not read again */
/*- elif not asked -*/
    camkes_message_end(&/*? m ?*/);
/*- endif -*/
    unsigned /*? method.error ?*/ = camkes_message_accepted(&/*? m ?*/, &/*? place ?*/, "/*? method.name ?*/") ? CAMKES_MESSAGE_GOOD : /*? m ?*/.error;
/*- if rpc.cpi is not none -*/
/*- set cpi_arguments = method.thread ~ ', ' ~ method.request ~ ', &' ~ rpc.interface ~ '__cpi, ' ~ rpc.cpi.lock ~ ', ' ~ ('true' if rpc.cpi.pool else 'false') -*/
    if (/*? method.error ?*/ == CAMKES_MESSAGE_GOOD) {
        /*? method.error ?*/ = camkes_begin_request(/*? cpi_arguments ?*/);
/*- if rpc.cpi.methods | length > 1 -*/
        CAMKES_TRACE(METHOD, /*? rpc.cpi.id ?*/, /*? rpc.cpi.methods.index(method.name) ?*/);
/*- endif -*/
    }
/*- endif -*/
    if (CAMKES_UNLIKELY(/*? method.error ?*/ != CAMKES_MESSAGE_GOOD)) {
/*- for p in heap -*/
        /*? release(p.shape, p.name, p.name ~ '_sz') ?*/
/*- endfor -*/
        camkes_reply_refused(/*? method.thread ?*/, /*? method.request ?*/, &/*? place ?*/, /*? method.error ?*/);
        return;
    }
    /*? declare(method.returns, method.result) ~ ' = ' if method.returns ?*//*? rpc.interface ?*/_/*? method.name ?*/(/*? method.parameters | map(attribute='from_locals') | join(', ') ?*/);
/*- set out = '&' ~ method.registers -*/
/*- set short = 'CAMKES_IS_SHORT(' ~ method.answered ~ '.bytes) ? ' ~ out ~ ' : NULL' if answered else 'NULL' -*/
/*- if answered -*/
    const struct camkes_layout /*? method.answered ?*/ = /*? answered ?*/;
/*- endif -*/
    struct camkes_registers /*? method.registers ?*/ = {{0}};
    struct camkes_message /*? method.reply ?*/ = /*? message_new(rpc.buffer, short, answered and method.answered) ?*/;
/*- if method.returns -*/
    /*? put(method.reply, method.return_shape, method.returns, method.result, '') ?*/
/*- endif -*/
/*- for p in method.comes -*/
/*- if p.shape.value in ('array', 'strings') and not p.goes -*/
    CAMKES_GIVEN_SIZE(&/*? method.reply ?*/, /*? p.name ?*/, &/*? p.name ?*/_sz);
/*- endif -*/
    /*? put(method.reply, p.shape, p.type, p.name, p.name ~ '_sz') ?*/
/*- endfor -*/
/*- for p in heap -*/
    /*? release(p.shape, p.name, p.name ~ '_sz') ?*/
/*- endfor -*/
/*- if method.returns and method.return_shape.value == 'string' -*/
    free(/*? method.result ?*/);
/*- endif -*/
/*- if rpc.cpi is not none -*/
    camkes_end_request(/*? cpi_arguments ?*/);
/*- endif -*/
    if (!camkes_message_good(&/*? method.reply ?*/, &/*? place ?*/, "/*? method.name ?*/")) {
        camkes_reply_empty(/*? method.thread ?*/, /*? method.request ?*/, camkes_message_none());
        return;
    }
/*- if not answered and not rpc.buffer -*/
    camkes_registers_from_buffer(/*? out ?*/);
/*- elif answered -*/
    if (!CAMKES_IS_SHORT(/*? method.answered ?*/.bytes)) {
        camkes_registers_from_buffer(/*? out ?*/);
    }
/*- endif -*/
    camkes_reply(/*? method.thread ?*/, /*? method.request ?*/, /*? 'seL4_MessageInfo_new(0, 0, 0, 0)' if rpc.buffer else 'camkes_message_info(&' ~ method.reply ~ ')' ?*/, /*? out ?*/);
}
/*- endfor -*/

static void /*? serve ?*//*? '__of_type' if rpc.dispatches | length > 1 or dispatch.suffix ?*/(struct camkes_thread *self, struct camkes_received *request)
{
/*- set count = dispatch.procedure.methods | length -*/
/*- if dispatch.procedure.index_type -*/
    seL4_Word method = 0;
    unsigned wrong = CAMKES_MESSAGE_GOOD;
    /*? dispatch.procedure.index_type ?*/ first = 0;
/*- if rpc.buffer -*/
    struct camkes_message message = camkes_message_at((void *)/*? rpc.buffer ?*/, /*? rpc.buffer ?*/_size);
    camkes_get(&message, &first, sizeof first);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    wrong = message.error;
    method = first;
/*- else -*/
    if (CAMKES_METHOD_IN_LABEL(first)) {
        method = camkes_label_method(request->info);
    } else if (CAMKES_UNLIKELY(request->words == 0)) {
        wrong = CAMKES_MESSAGE_TOO_SHORT;
    } else {
        (void)memcpy(&first, &request->registers, sizeof first);
        method = first;
    }
/*- endif -*/
    if (CAMKES_LIKELY(wrong == CAMKES_MESSAGE_GOOD)) {
        switch (method) {
/*- for method in dispatch.procedure.methods -*/
        case /*? loop.index0 ?*/:
            /*? serve ?*/_/*? method.name ?*/(self, request);
            return;
/*- endfor -*/
        default:
            break;
        }
    }
    camkes_reply_empty(self, request, camkes_message_no_method(self, &/*? place ?*/, wrong, method, /*? count ?*/));
/*- elif dispatch.procedure.methods -*/
/*- if numbers -*/
    const seL4_Word method = camkes_label_method(request->info);
    if (CAMKES_UNLIKELY(method != 0)) { /* another type has several, so it was not checked */
        camkes_reply_empty(self, request, camkes_message_no_method(self, &/*? place ?*/, CAMKES_MESSAGE_GOOD, method, 1));
        return;
    }
/*- endif -*/
    /*? serve ?*/_/*? dispatch.procedure.methods[0].name ?*/(self, request);
/*- else -*/
    camkes_reply_empty(self, request, camkes_message_no_method(self, &/*? place ?*/, CAMKES_MESSAGE_GOOD, 0, 0));
/*- endif -*/
}
/*- endfor -*/
/*- if rpc.dispatches | length > 1 or rpc.dispatches[0].suffix -*/

/* The type of the caller's interface decides what a message means. */
static void /*? rpc.interface ?*/__serve(struct camkes_thread *self, struct camkes_received *request)
{
    switch (camkes_sender_id(self)) {
/*- for dispatch in rpc.dispatches -*/
/*- for sender in dispatch.senders -*/
    case /*? sender ?*/:
/*- endfor -*/
        /*? rpc.interface ?*/__serve/*? dispatch.suffix ?*/__of_type(self, request);
        return;
/*- endfor -*/
    default:
        camkes_reply_refused(self, request, &/*? place ?*/, CAMKES_MESSAGE_BADGE);
        break;
    }
}
/*- endif -*/

/* What its threads do. */
static void /*? rpc.interface ?*/__loop(struct camkes_thread *self)
{
/*- set methods = rpc.dispatches[0].procedure.methods -*/
/*- set asked = methods[0].request_layout(none) if rpc.dispatches | length == 1 and methods | length == 1 and not rpc.buffer else '' -*/
    const struct camkes_lengths usual = /*? 'camkes_lengths_of(' ~ asked ~ ')' if asked else '{.most = seL4_MsgMaxLength' ~ (', .several = CAMKES_METHOD_IN_LABEL(' ~ numbers | join(') || CAMKES_METHOD_IN_LABEL(') ~ ')' if numbers else '') ~ '}' ?*/;
    /*? 'camkes_serve_plain' if rpc.cpi is none else 'camkes_serve_cpi' ?*/(self, /*? rpc.interface ?*/__serve, usual);
}
/*- if rpc.cpi is not none -*/
/*- set cpi = rpc.cpi -*/

/* The contexts of its requests, and the callers that may send them. */
static struct camkes_context /*? rpc.interface ?*/__contexts[] = {
/*- for context in cpi.contexts -*/
    {
        .name = "/*? context.name ?*/",
        .id = /*? context.id ?*/,
        .held = /*? context.held ?*/,
        .route = /*? context.route ?*/,
        .base = /*? context.base ?*/,
        .request = /*? context.base ?*/,
        .effective = /*? context.effective ?*/,
        .reply = /*? context.reply ?*/,
        .manager_as_worker = /*? context.manager ?*/,
/*- for name, slot in context.time -*/
        ./*? name ?*/ = /*? slot ?*/,
/*- endfor -*/
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
/*- if caller.is_task -*/
        .is_task = true,
/*- endif -*/
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
/*- if 'aborts' in cpi.time | map('first') -*/
void /*? rpc.interface ?*/__rollback(void) __attribute__((weak));
/*- endif -*/
/*- if cpi.payers -*/
static struct camkes_payer /*? rpc.interface ?*/__payers[] = {
/*- for id, slot in cpi.payers -*/
    {.id = /*? id ?*/, .time = /*? slot ?*/},
/*- endfor -*/
};
/*- endif -*/
static struct camkes_cpi /*? rpc.interface ?*/__cpi = {
    .name = "/*? cpi.name ?*/",
    .place = &/*? place ?*/,
    .id = /*? cpi.id ?*/,
    .ceiling = /*? cpi.ceiling ?*/,
/*- for name, value in cpi.members -*/
    ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
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
    .wake = /*? cpi.wake ?*/,
/*- for name, value in cpi.time -*/
    ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
/*- if cpi.payers -*/
    .payer = /*? rpc.interface ?*/__payers,
    .payers = /*? cpi.payers | length ?*/,
/*- endif -*/
    .authority = /*? cpi.authority ?*/,
/*- if cpi.monitor -*/
    .monitor = &/*? cpi.monitor ?*/,
/*- endif -*/
/*- endif -*/
};
/*- if 'suspends' in cpi.time | map('first') -*/
bool /*? rpc.interface ?*/__resume(int task)
{
    return camkes_resume(&/*? rpc.interface ?*/__cpi, task);
}
/*- endif -*/
/*- endif -*/
/*- endfor -*/
