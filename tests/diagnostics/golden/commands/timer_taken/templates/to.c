/*- do alloc_obj("ports", seL4_IA32_IOPort, start_port=0x40, end_port=0x43) -*/
