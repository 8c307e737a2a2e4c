/*
 * SPDX-License-Identifier: BSD-2-Clause
 * SPDX-FileCopyrightText: 2026 The camkes-rt developers
 *
 * What applications of the priority-aware-camkes library include, for those that are read where the library
 * is not: the names of its macros, and the attributes and connectors that they stand for.
 */

#ifndef CAMKES_RT_PRIORITY_PROTOCOLS
#define CAMKES_RT_PRIORITY_PROTOCOLS

/* The connector for a pool of so many threads; the count can be a macro itself. */
#define CAMKES_RT_POOLED(count) seL4RPCCallPrioritized##count
#define rpc(count) CAMKES_RT_POOLED(count)

#define task_priority_attributes() attribute int _priority;

#define interface_priority_attributes(interface) \
    attribute string interface##_priority_protocol; \
    attribute int interface##_priority; \
    attribute int interface##_num_threads;

#endif
