/*- from 'parts/marshal.c' import put, get, release, message_new, message_reply -*/
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
/*- set index = rpc.procedure.index_type -*/
/*- set short = not rpc.buffer and method.request_size(index) and method.reply_size -*/
/*- set registers = method.registers if short else 'NULL' -*/
/*- if short -*/
    struct camkes_registers /*? method.storage ?*/;
    struct camkes_registers *const /*? registers ?*/ =
        CAMKES_IS_SHORT(/*? method.request_size(index) ?*/) && CAMKES_IS_SHORT(/*? method.reply_size ?*/) ? &/*? method.storage ?*/ : NULL;
/*- endif -*/
    struct camkes_message /*? m ?*/ = /*? message_new(rpc.buffer, registers) ?*/;
/*- if rpc.procedure.index_type -*/
    const /*? rpc.procedure.index_type ?*/ /*? method.number ?*/ = /*? method.index ?*/;
    camkes_put(&/*? m ?*/, &/*? method.number ?*/, sizeof /*? method.number ?*/);
/*- endif -*/
/*- for p in method.parameters if p.goes -*/
    /*? put(m, p.shape, p.type, ('*' if p.by_pointer else '') ~ p.name, ('*' if p.by_pointer else '') ~ p.name ~ '_sz') ?*/
/*- endfor -*/
    if (!camkes_message_good(&/*? m ?*/, &/*? place ?*/, "/*? method.name ?*/")) {
        return/*? ' (' ~ method.returns ~ '){0}' if method.returns ?*/;
    }
/*- set words = '0' if rpc.buffer else 'camkes_message_words(&' ~ m ~ ')' -*/
/*- set send -*/
/*? ('camkes_call(' ~ rpc.endpoint ~ ', 0' if rpc.cpi is none else 'camkes_request(&' ~ rpc.interface ~ '__uses') ~ ', ' ~ registers ~ ', ' ~ words ~ ')' ?*/
/*-- endset -*/
/*- set fixed = not rpc.buffer and method.reply_size -*/
    /*? m ?*/ = /*? message_reply(rpc.buffer, send, registers, fixed) ?*/;
/*- if method.returns -*/
/*- if method.return_shape.value == 'string' -*/
    char */*? method.result ?*/ = camkes_get_string(&/*? m ?*/);
/*- else -*/
    /*? declare(method.returns, method.result) ?*/ = {0};
/*- if not fixed -*/
    camkes_get(&/*? m ?*/, &/*? method.result ?*/, sizeof(/*? method.returns ?*/));
/*- endif -*/
/*- endif -*/
/*- endif -*/
/*- if fixed and (method.returns or method.comes) -*/
    if (/*? m ?*/.error == CAMKES_MESSAGE_GOOD) {
/*- if method.returns -*/
        camkes_take(&/*? m ?*/, &/*? method.result ?*/, sizeof(/*? method.returns ?*/));
/*- endif -*/
/*- for p in method.comes -*/
        camkes_take(&/*? m ?*/, /*? p.name ?*/, sizeof(/*? p.type ?*/));
/*- endfor -*/
    }
/*- elif not fixed -*/
/*- for p in method.parameters if p.comes -*/
/*- if p.direction == 'inout' and p.shape.value != 'scalar' -*/
    /*? release(p.shape, '*' ~ p.name, '*' ~ p.name ~ '_sz') ?*/
/*- endif -*/
    /*? get('&' ~ m, p.shape, p.type, '*' ~ p.name, '*' ~ p.name ~ '_sz') ?*/
/*- endfor -*/
/*- endif -*/
    (void)camkes_message_good(&/*? m ?*/, &/*? place ?*/, "/*? method.name ?*/");
/*- if method.returns -*/
    return /*? method.result ?*/;
/*- endif -*/
}
/*- endfor -*/
/*- endfor -*/
