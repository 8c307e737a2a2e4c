/*- for direct in me.direct -*/
/*- for method in direct.procedure.methods -*/

/* A call of another instance in this address space: /*? direct.origin ?*/ */
extern __typeof__(/*? direct.interface ?*/_/*? method.name ?*/) /*? direct.target ?*/_/*? method.name ?*/;

/*? method.prototype ?*/
{
    /*? 'return ' if method.returns ?*//*? direct.target ?*/_/*? method.name ?*/(/*? method.parameters | map(attribute='forwarded') | join(', ') ?*/);
}
/*- endfor -*/
/*- endfor -*/
/*- for interface in me.direct_to -*/
/*- for method in interface.methods -*/

/* For callers in this address space: /*? interface.origin ?*/ */
extern __typeof__(/*? interface.name ?*/_/*? method.name ?*/) camkes_instance_/*? me.c_name ?*/__direct_/*? interface.name ?*/_/*? method.name ?*/
    __attribute__((alias("/*? interface.name ?*/_/*? method.name ?*/")));
/*- endfor -*/
/*- endfor -*/
