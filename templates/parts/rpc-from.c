/*- from 'parts/marshal.c' import put, get, release, message_new -*/
/*# What a method does that fails: `call` reports why. #*/
/*- macro fail(method, call) --*/
/*- if method.returns --*/
CAMKES_FAIL(/*? method.result ?*/, /*? call ?*/);
/*-- else --*/
(void)/*? call ?*/;
        return;
/*-- endif --*/
/*- endmacro -*/
/*- for rpc in me.rpc_from -*/
/*- set place = rpc.interface ~ '__place' -*/

/* uses /*? rpc.interface ?*/, served by /*? rpc.target ?*/: /*? rpc.origin ?*/ */
static const struct camkes_place /*? place ?*/ = {
    .instance = "/*? me.name ?*/",
    .interface = "/*? rpc.interface ?*/",
    .handler = &/*? rpc.interface ?*/__error_handler,
    .server = "/*? rpc.target ?*/",
};
/*- if rpc.cpi is not none -*/
static const struct camkes_route /*? rpc.interface ?*/__routes[] = {
/*- for route in rpc.routes -*/
    {.endpoint = /*? route.endpoint ?*/, .manager = /*? route.manager ?*/}, /* /*? route.context ?*/ */
/*- else -*/
    {.endpoint = 0},
/*- endfor -*/
};
static const struct camkes_uses /*? rpc.interface ?*/__uses = {
    .name = "/*? rpc.target ?*/",
    .cpi = /*? rpc.cpi ?*/,
    .routes = /*? rpc.routes | length ?*/,
    .route = /*? rpc.interface ?*/__routes,
/*- if me.one_route -*/
    .one_route = true,
/*- endif -*/
/*- if me.label -*/
    .label = /*? me.label ?*/,
/*- endif -*/
};
/*- endif -*/
/*- for method in rpc.procedure.methods -*/
/*- set m = method.message -*/

/* /*? method.origin ?*/ */
/*? method.prototype ?*/
{
/*- if method.returns -*/
    /*? declare(method.returns, method.result) ?*/ = /*? 'NULL' if method.return_shape.value == 'string' else '{0}' ?*/;
/*- endif -*/
/*- if rpc.cpi is not none -*/
    if (!camkes_has_route(&/*? rpc.interface ?*/__uses)) {
        /*? fail(method, 'camkes_no_route(&' ~ rpc.interface ~ '__uses)') ?*/
    }
/*- endif -*/
/*- set asked = '' if rpc.buffer else method.request_layout(rpc.procedure.index_type) -*/
/*- set answered = '' if rpc.buffer else method.reply_layout -*/
/*- set registers = method.registers if asked and answered else 'NULL' -*/
/*- if asked -*/
    const struct camkes_layout /*? method.asked ?*/ = /*? asked ?*/;
/*- endif -*/
/*- if answered -*/
    const struct camkes_layout /*? method.answered ?*/ = /*? answered ?*/;
/*- endif -*/
/*- if asked and answered -*/
    struct camkes_registers /*? method.storage ?*/;
    struct camkes_registers *const /*? registers ?*/ =
        CAMKES_IS_SHORT(/*? method.asked ?*/.bytes) && CAMKES_IS_SHORT(/*? method.answered ?*/.bytes) ? &/*? method.storage ?*/ : NULL;
/*- endif -*/
    struct camkes_message /*? m ?*/ = /*? message_new(rpc.buffer, registers, asked and method.asked) ?*/;
/*- if rpc.procedure.index_type and rpc.buffer -*/
    const /*? rpc.procedure.index_type ?*/ /*? method.number ?*/ = /*? method.index ?*/;
    CAMKES_PUT(&/*? m ?*/, /*? method.number ?*/);
/*- elif rpc.procedure.index_type -*/
    if (!CAMKES_METHOD_IN_LABEL(/*? rpc.procedure.index_type ?*/)) {
        const /*? rpc.procedure.index_type ?*/ /*? method.number ?*/ = /*? method.index ?*/;
        CAMKES_PUT(&/*? m ?*/, /*? method.number ?*/);
    }
/*- endif -*/
/*- for p in method.parameters if p.goes -*/
    /*? put(m, p.shape, p.type, ('*' if p.by_pointer else '') ~ p.name, ('*' if p.by_pointer else '') ~ p.name ~ '_sz') ?*/
/*- endfor -*/
    if (!camkes_message_good(&/*? m ?*/, &/*? place ?*/, "/*? method.name ?*/")) {
        return/*? ' ' ~ method.result if method.returns ?*/;
    }
/*- set words = '0' if rpc.buffer else 'camkes_message_words(&' ~ m ~ ')' -*/
/*- set label = 'CAMKES_LABEL_METHOD(' ~ rpc.procedure.index_type ~ ', ' ~ method.index ~ ')' if rpc.procedure.index_type and not rpc.buffer else '0' -*/
/*- set send -*/
/*? ('camkes_call(' ~ rpc.endpoint if rpc.cpi is none else 'camkes_request(&' ~ rpc.interface ~ '__uses') ~ ', ' ~ label ~ ', ' ~ registers ~ ', ' ~ words ~ ')' ?*/
/*-- endset -*/
/*- if answered -*/
    const seL4_MessageInfo_t /*? method.reply ?*/ = /*? send ?*/;
    if (!camkes_reply_good(/*? method.reply ?*/, /*? method.answered ?*/)) {
/*- for p in method.scalars_out -*/
        (void)memset(/*? p.name ?*/, 0, sizeof */*? p.name ?*/);
/*- endfor -*/
        /*? fail(method, 'camkes_reply_failed(&' ~ place ~ ', ' ~ method.reply ~ ', ' ~ method.answered ~ '.bytes, "' ~ method.name ~ '")') ?*/
    }
/*- if method.returns or method.comes -*/
    /*? m ?*/ = camkes_message_fixed(/*? registers ?*/, /*? method.answered ?*/);
/*- endif -*/
/*- if method.returns -*/
    CAMKES_TAKE(&/*? m ?*/, /*? method.result ?*/);
/*- endif -*/
/*- for p in method.comes -*/
    CAMKES_TAKE(&/*? m ?*/, */*? p.name ?*/);
/*- endfor -*/
/*- else -*/
    /*? m ?*/ = /*? 'camkes_message_reply_at(' ~ send ~ ', (void *)' ~ rpc.buffer ~ ', ' ~ rpc.buffer ~ '_size)' if rpc.buffer else 'camkes_message_reply(' ~ send ~ ')' ?*/;
/*- if method.returns -*/
/*- if method.return_shape.value == 'string' -*/
    /*? method.result ?*/ = camkes_get_string(&/*? m ?*/);
/*- else -*/
    camkes_get(&/*? m ?*/, &/*? method.result ?*/, sizeof(/*? method.returns ?*/));
/*- endif -*/
/*- endif -*/
/*- for p in method.parameters if p.comes -*/
/*- if p.direction == 'inout' and p.shape.value == 'array' -*/
    */*? p.name ?*/ = camkes_replace_array(&/*? m ?*/, */*? p.name ?*/, /*? p.name ?*/_sz, sizeof(/*? p.type ?*/));
/*- else -*/
/*- if p.direction == 'inout' and p.shape.value != 'scalar' -*/
    /*? release(p.shape, '*' ~ p.name, '*' ~ p.name ~ '_sz') ?*/
/*- endif -*/
    /*? get('&' ~ m, p.shape, p.type, '*' ~ p.name, '*' ~ p.name ~ '_sz') ?*/
/*- endif -*/
/*- endfor -*/
/*- set read = 'camkes_reply_read(&' ~ m ~ ', &' ~ place ~ ', "' ~ method.name ~ '")' -*/
/*- if method.scalars_out -*/
    if (!/*? read ?*/) {
/*- for p in method.scalars_out -*/
        (void)memset(/*? p.name ?*/, 0, sizeof */*? p.name ?*/);
/*- endfor -*/
    }
/*- else -*/
    (void)/*? read ?*/;
/*- endif -*/
/*- endif -*/
/*- if method.returns -*/
    return /*? method.result ?*/;
/*- endif -*/
}
/*- endfor -*/
/*- endfor -*/
