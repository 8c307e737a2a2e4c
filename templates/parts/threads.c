/*- if me.space_threads is not none -*/

/* The threads of the address space, by number. */
/*- for c_name, name in me.space_threads -*/
extern struct camkes_thread /*? c_name ?*/;
/*- endfor -*/

struct camkes_thread *const camkes_threads[] = {
/*- for c_name, name in me.space_threads -*/
    &/*? c_name ?*/, /* /*? name ?*/ */
/*- endfor -*/
};
const unsigned camkes_thread_count = /*? me.space_threads | length ?*/;
/*- endif -*/
