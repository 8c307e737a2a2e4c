/*- from 'parts/shared.c' import shared -*/
/*- for port in me.dataports -*/

/* dataport /*? port.interface ?*/: /*? port.origin ?*/ */
/*- if port.memory is not none -*/
/*? shared(port.memory) ?*/
_Static_assert(/*? port.size ?*/ <= sizeof /*? port.memory.variable ?*/,
               "the type of dataport /*? port.interface ?*/ is larger than its memory: set the "
               "connection's size");
/*? port.type ?*/ *const /*? port.interface ?*/ = (/*? port.type ?*/ *)(void *)/*? port.memory.variable ?*/;

int /*? port.interface ?*/_wrap_ptr(dataport_ptr_t *pointer, void *address)
{
    const uintptr_t offset = (uintptr_t)address - (uintptr_t)/*? port.interface ?*/;
    if (offset >= /*? port.size ?*/) {
        return -1;
    }
    *pointer = (dataport_ptr_t){.id = /*? port.id ?*/, .offset = (off_t)offset};
    return 0;
}

void */*? port.interface ?*/_unwrap_ptr(dataport_ptr_t *pointer)
{
    /* The pointer may be in a dataport, where other components can change it at any time. */
    const dataport_ptr_t read = *(volatile dataport_ptr_t *)pointer;
    if (read.id != /*? port.id ?*/ || (uintptr_t)read.offset >= /*? port.size ?*/) {
        return NULL;
    }
    return (char *)/*? port.memory.variable ?*/ + read.offset;
}
/*- endif -*/
/*- endfor -*/

dataport_ptr_t dataport_wrap_ptr(void *pointer)
{
    dataport_ptr_t wrapped = {.id = -1};
    (void)pointer;
/*- for port in me.dataports if port.memory is not none or port.rendered -*/
    if (/*? port.interface ~ '_wrap_ptr && ' if port.rendered ?*//*? port.interface ?*/_wrap_ptr(&wrapped, pointer) == 0) {
        return wrapped;
    }
/*- endfor -*/
    return wrapped;
}

void *dataport_unwrap_ptr(dataport_ptr_t pointer)
{
    (void)pointer;
/*- for port in me.dataports if port.memory is not none -*/
    if (pointer.id == /*? port.id ?*/) {
        return /*? port.interface ?*/_unwrap_ptr(&pointer);
    }
/*- endfor -*/
/*- for port in me.dataports if port.rendered -*/
    if (/*? port.interface ?*/_unwrap_ptr && /*? port.interface ?*/_unwrap_ptr(&pointer)) {
        return /*? port.interface ?*/_unwrap_ptr(&pointer);
    }
/*- endfor -*/
    return NULL;
}
