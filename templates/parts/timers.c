/*- for timer in me.timers -*/

/* uses /*? timer.interface ?*/, the virtual time server: /*? timer.origin ?*/ */
static struct camkes_timer /*? timer.interface ?*/__timer[] = {
/*- for slot in timer.timers -*/
    {.timer = /*? slot ?*/},
/*- endfor -*/
};
static struct camkes_timers /*? timer.interface ?*/__timers = {
    .count = /*? timer.timers | length ?*/,
    .timer = /*? timer.interface ?*/__timer,
};

seL4_CPtr /*? timer.interface ?*/_notification(void)
{
    return /*? timer.notification ?*/;
}

void /*? timer.interface ?*/_wait(void)
{
    seL4_Wait(/*? timer.notification ?*/, NULL);
}

int /*? timer.interface ?*/_poll(void)
{
    seL4_Word badge = 0;
    (void)seL4_Poll(/*? timer.notification ?*/, &badge);
    return badge != 0;
}
/*- for method, body in timer.bodies -*/

/*? method.prototype ?*/
{
    (void)/*? timer.interface ?*/__timers;
    /*? 'return ' if method.returns else '(void)' ?*//*? body ?*/;
}
/*- endfor -*/
/*- endfor -*/
