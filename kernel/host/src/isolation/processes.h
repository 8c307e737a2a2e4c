/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The processes of the workstation that components run in, and what keeps them in bounds. */
#pragma once

#include "state.h"

/* control.c; bits of a baton */
enum { CONTROL = 1, LOOK = 2 };
_Noreturn void control_exit(int status);
uint32_t control_myself(void);
void control_wake(_Atomic uint32_t *baton, uint32_t bits);
uint32_t control_sleep(_Atomic uint32_t *baton, long limit);
void control_wait(void);
void control_back(void);
_Noreturn void control_finish(void);
void control_write(void);

/* children.c */
void children_initialise(void);
void children_add(pid_t pid, const char *name);
const char *children_name(unsigned number);
unsigned children_bury(pid_t pid);
void children_kill(void);

/* handover.c */
bool handover_to(struct space *space);
void handover_wait(void);
void handover_initialise(void);
void handover_reap(void);

/* watch.c */
enum { WATCH_TICK = 50 /* milliseconds */ };
bool watch_stands_still(void);
void watch_look(void);
void watch_parent(pid_t parent);

/* confine.c */
void confine_loading(void);
void confine_running(void);

/* calls.c */
const char *call_name(uint64_t number);
