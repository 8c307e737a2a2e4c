/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Who runs, and when: queues, choices, virtual time. */
#pragma once

#include "state.h"

/* choice.c */
unsigned choose(enum camkes_choice kind, unsigned options);
void choice_initialise(void);

/* ready.c */
void ready_append(struct thread *thread);
void ready_prepend(struct thread *thread);
void ready_remove(struct thread *thread);
int ready_highest(void);
void ready_again(void);
void ready_set_state(struct thread *thread, enum thread_state state);
void ready_wake(struct thread *thread);
void ready_make(struct thread *thread, const struct thread *by);
void ready_set_priority(struct thread *thread, uint8_t priority);
bool ready_has_equal(const struct thread *thread);
unsigned ready_count(unsigned priority);
struct thread *ready_take(unsigned priority, unsigned place);
bool ready_start(unsigned priority);
void ready_end_slice(void);

/* domains.c */
struct ready *domain_queues(uint8_t domain);
void domain_initialise(void);
void domain_show(void);
bool domain_switch_due(void);
uint64_t domain_next(void);

/* timer.c */
uint64_t timer_next(void);
bool timer_fire_due(void);
void timer_fire_early(void);
bool timer_can_fire_early(void);
void timer_initialise(void);
void timer_arm(struct object *object, uint64_t first, uint64_t period);
void timer_arrive(struct object *object);

/* arrivals.c */
void arrivals_initialise(void);
bool arrivals_matter(struct thread *self, enum camkes_kcall operation, seL4_CPtr slot);
void arrivals_started(struct thread *self, enum camkes_kcall operation, seL4_CPtr slot);
bool arrivals_at_point(struct thread *self);
bool arrivals_at_switch(void);
bool arrivals_end_slice(void);

/* schedule.c */
void schedule(void);

/* clock.c */
void clock_pass_to(uint64_t instant);
uint64_t clock_next(void);
bool clock_wake_due(void);
void clock_skip(void);
void clock_end(enum camkes_end reason);

/* work.c */
void work_consume(struct thread *self, uint64_t ns);
bool work_poll(struct thread *self);
void work_fill_slot(struct thread *self);
