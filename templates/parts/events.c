/*- from 'parts/shared.c' import shared -*/
/*- for event in me.emits -*/

/* emits /*? event.interface ?*/: /*? event.origin ?*/ */
/*- for slot, queue in event.targets if queue is not none -*/
/*? shared(queue) ?*/
/*- endfor -*/

/*- if event.underlying -*/
void /*? event.interface ?*/_emit_underlying(void) __attribute__((weak));
/*- endif -*/
void /*? event.interface ?*/_emit(void)
{
/*- if event.underlying -*/
    if (/*? event.interface ?*/_emit_underlying) {
        /*? event.interface ?*/_emit_underlying();
    }
/*- endif -*/
/*- for slot, queue in event.targets -*/
/*- if queue is none -*/
    seL4_Signal(/*? slot ?*/);
/*- else -*/
    camkes_event_emit_queued((void *)/*? queue.variable ?*/, /*? slot ?*/);
/*- endif -*/
/*- endfor -*/
}
/*- endfor -*/
/*- for event in me.consumes -*/

/* consumes /*? event.interface ?*/: /*? event.origin ?*/ */
/*- if event.queue is not none -*/
/*? shared(event.queue) ?*/
/*- endif -*/

seL4_CPtr /*? event.interface ?*/_notification(void)
{
    return /*? event.notification ?*/;
}
/*- if event.handoff is not none -*/

static struct camkes_event /*? event.interface ?*/__event = {
    .interface = {.init = /*? event.interface ?*/__init},
    .notification = /*? event.notification ?*/,
/*- if event.queue is not none -*/
    .queued = (void *)/*? event.queue.variable ?*/,
/*- endif -*/
    .handoff = {.notification = /*? event.handoff ?*/},
/*- if event.helped -*/
    .condition = &/*? event.interface ?*/__condition,
/*- endif -*/
};

void /*? event.interface ?*/_wait(void)
{
    camkes_event_wait(&/*? event.interface ?*/__event);
}
/*- if event.helped -*/

int /*? event.interface ?*/_wait_until(uint64_t time)
{
    return camkes_event_wait_until(&/*? event.interface ?*/__event, time);
}
/*- endif -*/

int /*? event.interface ?*/_poll(void)
{
    return camkes_/*? 'condition_trywait(&' ~ event.interface ~ '__condition' if event.helped else 'semaphore_trywait(&' ~ event.interface ~ '__event.handoff' ?*/) == 0;
}

int /*? event.interface ?*/_reg_callback(void (*callback)(void *), void *argument)
{
    return camkes_event_register(&/*? event.interface ?*/__event, callback, argument);
}
/*- else -*/

void /*? event.interface ?*/_wait(void)
{
    seL4_Wait(/*? event.notification ?*/, NULL);
}

int /*? event.interface ?*/_poll(void)
{
    seL4_Word badge = 0;
    (void)seL4_Poll(/*? event.notification ?*/, &badge);
    return badge != 0;
}

int /*? event.interface ?*/_reg_callback(void (*callback)(void *), void *argument)
{
    (void)callback;
    (void)argument;
    return -1; /* no thread to call it */
}
/*- endif -*/
/*- endfor -*/
