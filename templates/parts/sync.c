/*- for sync in me.syncs -*/

/* has /*? sync.kind ?*/ /*? sync.name ?*/: /*? sync.origin ?*/ */
static struct camkes_semaphore /*? sync.name ?*/__semaphore = {
    .notification = /*? sync.slot ?*/,
    .value = /*? sync.value ?*/,
};

int /*? sync.name ?*/_/*? 'lock' if sync.kind == 'mutex' else 'wait' ?*/(void)
{
    return camkes_semaphore_wait(&/*? sync.name ?*/__semaphore);
}
/*- if sync.kind == 'semaphore' -*/

int /*? sync.name ?*/_trywait(void)
{
    return camkes_semaphore_trywait(&/*? sync.name ?*/__semaphore);
}
/*- endif -*/

int /*? sync.name ?*/_/*? 'unlock' if sync.kind == 'mutex' else 'post' ?*/(void)
{
    return camkes_semaphore_post(&/*? sync.name ?*/__semaphore, /*? sync.limit ?*/);
}
/*- endfor -*/
