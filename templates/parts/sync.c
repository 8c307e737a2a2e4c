/*- for sync in me.syncs -*/

/* has /*? sync.kind ?*/ /*? sync.name ?*/: /*? sync.origin ?*/ */
/*- set record = 'condition' if sync.helped else 'semaphore' -*/
/*- if not sync.helped -*/
static struct camkes_semaphore /*? sync.name ?*/__semaphore = {
    .notification = /*? sync.slot ?*/,
    .value = /*? sync.value ?*/,
};
/*- endif -*/
/*- if sync.kind == 'condition' -*/

void /*? sync.name ?*/_wait(void)
{
    camkes_monitor_wait(&/*? sync.name ?*/__condition);
}

int /*? sync.name ?*/_wait_until(uint64_t time)
{
    return camkes_monitor_wait_until(&/*? sync.name ?*/__condition, time);
}

void /*? sync.name ?*/_signal(void)
{
    camkes_monitor_signal(&/*? sync.name ?*/__condition, CAMKES_POST);
}

void /*? sync.name ?*/_broadcast(void)
{
    camkes_monitor_signal(&/*? sync.name ?*/__condition, CAMKES_POST_ALL);
}
/*- else -*/

int /*? sync.name ?*/_/*? 'lock' if sync.kind == 'mutex' else 'wait' ?*/(void)
{
    return camkes_/*? record ?*/_wait(&/*? sync.name ?*/__/*? record ?*/);
}
/*- if sync.helped -*/

int /*? sync.name ?*/_wait_until(uint64_t time)
{
    return camkes_condition_wait_until(&/*? sync.name ?*/__condition, time, /*? sync.limit ?*/);
}
/*- endif -*/
/*- if sync.kind == 'semaphore' -*/

int /*? sync.name ?*/_trywait(void)
{
    return camkes_/*? record ?*/_trywait(&/*? sync.name ?*/__/*? record ?*/);
}
/*- endif -*/

int /*? sync.name ?*/_/*? 'unlock' if sync.kind == 'mutex' else 'post' ?*/(void)
{
    return camkes_/*? record ?*/_post(&/*? sync.name ?*/__/*? record ?*/, /*? sync.limit ?*/);
}
/*- endif -*/
/*- endfor -*/
