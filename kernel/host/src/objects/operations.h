/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What seL4's operations do with objects and capabilities. */
#pragma once

#include "threads.h"

/* queue.c */
void queue_insert(struct queue *queue, struct thread *thread, struct thread *previous);
void queue_append(struct queue *queue, struct thread *thread);
void queue_rank(struct queue *queue, struct thread *thread);
void queue_remove(struct queue *queue, struct thread *thread);

/* cap.c */
struct cap *cap_find(struct thread *thread, seL4_CPtr slot);
unsigned cap_object_number(struct thread *thread, seL4_CPtr slot);
void cap_clear(struct cap *cap);
void cap_move_reply(struct cap *to, struct cap *from);
void cap_note(struct thread *thread, const char *what, seL4_CPtr slot);

/* endpoint.c */
void endpoint_send(struct thread *sender, struct object *object, const struct cap *cap,
                   bool blocking, bool call, bool donate);
void endpoint_receive(struct thread *receiver, struct object *object, const struct cap *cap,
                      bool blocking);
void endpoint_reply(struct thread *sender, struct cap *cap);
bool endpoint_answer(struct thread *sender, struct thread *receiver, bool grant);
void endpoint_cancel(struct thread *thread);

/* notification.c */
void notification_signal(struct object *object, uint64_t badge, struct thread *by);
bool notification_wait(struct thread *thread, struct object *object, bool blocking);
void notification_cancel(struct thread *thread);

/* tcb.c */
void tcb_cancel(struct thread *thread);
void tcb_stop(struct thread *thread);
