/*- for direct in me.direct -*/
/*- for method in direct.procedure.methods -*/
/*- set target = direct.target ~ '_' ~ method.name -*/

/* A call of another instance in this address space: /*? direct.origin ?*/ */
/*? declare(method.returns or 'void', target) ?*/(/*? method.declarations ?*/);

/*? method.prototype ?*/
{
    /*? 'return ' if method.returns ?*//*? target ?*/(/*? method.parameters | map(attribute='forwarded') | join(', ') ?*/);
}
/*- endfor -*/
/*- endfor -*/
/*- for interface in me.direct_to -*/
/*- for method in interface.methods -*/
/*- set target = 'camkes_instance_' ~ me.c_name ~ '__direct_' ~ interface.name ~ '_' ~ method.name -*/

/* For callers in this address space: /*? interface.origin ?*/ */
/*? declare(method.returns or 'void', target) ?*/(/*? method.declarations ?*/);
/*? declare(method.returns or 'void', target) ?*/(/*? method.declarations ?*/)
{
    /*? 'return ' if method.returns ?*//*? interface.name ?*/_/*? method.name ?*/(/*? method.parameters | map(attribute='forwarded') | join(', ') ?*/);
}
/*- endfor -*/
/*- endfor -*/
