/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* An instance, and the order in which its threads start. */
#pragma once

#include <camkes/platform.h>
#include <stdatomic.h>

/*
 * The control thread runs pre_init(), initialises the CPIs with a protocol, lets the threads of the
 * other interfaces initialise theirs, runs post_init() and opens the gate at which all threads
 * wait.
 */
struct camkes_start {
    seL4_CPtr gate;
    seL4_CPtr ready;
    unsigned interfaces;          /* threads that initialise their own interface */
    _Atomic unsigned initialised; /* of these, the number that have finished */
    _Atomic unsigned waiting;     /* number of threads at the gate; CAMKES_GATE_OPEN if it is open
                                   */
#if defined(CONFIG_KERNEL_MCS)
    struct camkes_lent lent;
#endif
};

struct camkes_instance {
    const char *name;
    struct camkes_start *start;
    seL4_CPtr criticality; /* of the time manager, 0: it cannot set the criticality */
};

/* An interface with the user's functions IFACE__init() and IFACE__run() (NULL: none). */
struct camkes_interface {
    void (*init)(void);
    int (*run)(void);
};

/* called by the control thread */
void camkes_start_interfaces(const struct camkes_instance *instance);
void camkes_start_open(const struct camkes_instance *instance);

/* Declared in the header of components that may. */
void camkes_set_criticality(unsigned level);

/* called by any other thread */
void camkes_start_interface(const struct camkes_instance *instance, void (*init)(void));
void camkes_start_wait(const struct camkes_instance *instance);
