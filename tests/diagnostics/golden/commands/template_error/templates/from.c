/*- set device = me.parent.to_instance.name -*/
/*- if configuration[device].registers_size < 0x2000 -*/
    /*? raise(TemplateError('%s.registers_size must be at least two pages' % device)) ?*/
/*- endif -*/
