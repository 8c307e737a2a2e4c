/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Effective priorities in a group, and its messages to the managers of its tasks and CPIs. */
#pragma once

#include <camkes/condition.h>
#include <camkes/label.h>

/* Sends the message of one member to the manager of its task or CPI. Returns the error and, in
 * `result`, the first word of the reply. */
unsigned camkes_ask_member(const struct camkes_member *member,
                           enum camkes_member_operation operation, uint8_t priority,
                           uint16_t detail, seL4_Word *result);
/* The same, where an error is fatal. Returns the first word of the reply. */
seL4_Word camkes_order_member(const struct camkes_member *member,
                              enum camkes_member_operation operation, uint8_t priority,
                              uint16_t detail);

/* The effective priority of a thread that waits. */
uint8_t camkes_lends(const struct camkes_group *group, const struct camkes_waiter *waiter);
/* Computes all effective priorities anew. */
void camkes_compute_lending(struct camkes_group *group);
/* And sets those that have changed, the lower ones first: a thread that has lost its priority does
 * not run before one that has got a priority. */
void camkes_apply_lending(struct camkes_group *group);
