/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Processor time as a resource: only of an MCS kernel. */
#pragma once

#include "state.h"

/* budget.c */
void budget_donate(struct object *object, struct thread *to, enum camkes_bind how);
void budget_bind(struct object *object, struct thread *thread, struct thread *by);
void budget_unbind(struct object *object, struct thread *by);
void budget_lend(struct object *notification, struct thread *thread);
void budget_return(struct object *notification, struct thread *thread);
void budget_show(void);
bool budget_ready(const struct object *object);
void budget_postpone(struct thread *thread);
void budget_unblock(struct thread *thread);
void budget_forget(struct thread *thread);
void budget_charge(void);
void budget_follow(void);
uint64_t budget_left(void);
bool budget_is_spent(void);
uint64_t budget_take_consumed(struct object *object);
void budget_configure(struct object *object, const struct context *wanted);
uint64_t budget_next(void);
bool budget_release_due(void);

/* reply.c */
void reply_receive_with(struct thread *thread, struct object *object);
struct object *reply_take(struct thread *thread);
void reply_push(struct thread *caller, struct thread *receiver);
void reply_pop(struct object *object);
void reply_forget(struct thread *caller);
void reply_unbind(struct object *context);

/* timeout.c */
void timeout_end_slice(struct thread *thread, bool may_fault);
void timeout_yield(struct thread *self);
bool timeout_settle(void);
bool timeout_enters(void);
void timeout_reply(struct thread *sender, struct object *object, bool grant);
