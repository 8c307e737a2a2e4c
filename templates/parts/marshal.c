/*# An empty message to write: in the dataport `buffer`, in `registers` (C, NULL: they are not used) or in the IPC buffer; `layout`: a C variable, "" if its size varies. #*/
/*- macro message_new(buffer, registers, layout) --*/
/*? 'camkes_message_at((void *)' ~ buffer ~ ', ' ~ buffer ~ '_size)' if buffer else 'camkes_message_new(' ~ registers ~ ', ' ~ (layout ~ '.unit' if layout else '1') ~ ')' ?*/
/*-- endmacro -*/
/*# Statements that put one value into a message (m: the message's C name, value: an expression). #*/
/*- macro put(m, shape, type, value, count) --*/
/*- if shape.value == 'scalar' --*/
CAMKES_PUT(&/*? m ?*/, /*? value ?*/);
/*-- elif shape.value == 'string' --*/
camkes_put_string(&/*? m ?*/, /*? value ?*/);
/*-- elif shape.value == 'array' --*/
camkes_put_array(&/*? m ?*/, /*? value ?*/, /*? count ?*/, sizeof(/*? type ?*/));
/*-- else --*/
camkes_put_strings(&/*? m ?*/, /*? value ?*/, /*? count ?*/);
/*-- endif --*/
/*- endmacro -*/
/*# Statements that take one value out of a message onto the heap. #*/
/*- macro get(m, shape, type, value, count) --*/
/*- if shape.value == 'scalar' --*/
camkes_get(/*? m ?*/, /*? value[1:] if value.startswith('*') else '&' ~ value ?*/, sizeof(/*? type ?*/));
/*-- elif shape.value == 'string' --*/
/*? value ?*/ = camkes_get_string(/*? m ?*/);
/*-- elif shape.value == 'array' --*/
/*? value ?*/ = camkes_get_array(/*? m ?*/, &/*? count ?*/, sizeof(/*? type ?*/));
/*-- else --*/
/*? value ?*/ = camkes_get_strings(/*? m ?*/, &/*? count ?*/);
/*-- endif --*/
/*- endmacro -*/
/*- macro release(shape, value, count) --*/
/*- if shape.value == 'strings' --*/
camkes_free_strings(/*? value ?*/, /*? count ?*/);
/*-- else --*/
free(/*? value ?*/);
/*-- endif --*/
/*- endmacro -*/
