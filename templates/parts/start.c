/*- for name in me.plain_interfaces -*/

static struct camkes_interface /*? name ?*/__interface __attribute__((unused)) = {
    .init = /*? name ?*/__init,
    .run = /*? name ?*/__run,
};
/*- endfor -*/
/*- if me.task -*/

/*- if me.task.budget -*/
static struct camkes_task camkes__task;
static void camkes__jobs(struct camkes_thread *self);

static struct camkes_budget camkes__budget = {
    .task = &camkes__task,
/*- for name, value in me.task.budget -*/
    ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
};

/*- endif -*/
/*- if me.task.priorities -*/
/* At each criticality of the system. */
static const uint8_t camkes__priorities[] = /*? me.task.priorities ?*/;

/*- endif -*/
/* The task whose code is run(). */
static struct camkes_task camkes__task = {
    .release = /*? me.task.release ?*/,
/*- if me.task.timer -*/
    .timer = /*? me.task.timer ?*/,
/*- endif -*/
/*- for name, value in me.task.members -*/
    ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
/*- if me.task.budget -*/
    .budget = &camkes__budget,
/*- endif -*/
/*- for name, value in me.task.turns -*/
    ./*? name ?*/ = /*? value ?*/,
/*- endfor -*/
};
/*- endif -*/

/* run(), from a release on. */
static void camkes__jobs(struct camkes_thread *self)
{
/*- if not me.task -*/
    (void)self;
/*- endif -*/
/*- if me.start.run -*/
/*- if me.task -*/
    camkes_begin_task(self->task);
/*- endif -*/
    const int status = run();
/*- endif -*/
/*- if me.task -*/
    camkes_end_task(self->task);
/*- endif -*/
/*- if me.start.run -*/
    camkes_exit_status(status);
/*- endif -*/
}

static void camkes__control(struct camkes_thread *self)
{
    if (pre_init) {
        pre_init();
    }
/*- for name in me.start.inits -*/
    if (/*? name ?*/__init) {
        /*? name ?*/__init();
    }
/*- endfor -*/
    camkes_start_interfaces(&camkes__instance);
    if (post_init) {
        post_init();
    }
    camkes_start_open(&camkes__instance);
    camkes__jobs(self);
}
/*- for thread in me.threads -*/

/* /*? thread.comment ?*/ */
struct camkes_thread /*? thread.c_name ?*/ = {
/*- for field, value in thread.fields -*/
    ./*? field ?*/ = /*? value ?*/,
/*- endfor -*/
};
/*- endfor -*/
