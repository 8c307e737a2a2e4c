/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What a worker on an MCS kernel executes on, as a state machine. The manager of its CPI alone
 * takes it from one state to another (src/time/worker_states.h). docs/mcs.md shows these
 * tables.
 */
#pragma once

#include <stdbool.h>

/* clang-format off */
/* X(STATE, "what it executes on") */
#define CAMKES_WORKER_STATES(X) \
    X(PASSIVE, "the time of its caller, or none: it waits for one") \
    X(STALLED, "the time of its caller, which was used up while it held the lock") \
    X(WITHDRAWN, "none: the manager keeps the time of its caller") \
    X(HELPED, "the time of a task that waits for it") \
    X(EXTENDED, "the extension of the CPI") \
    X(FINISHING, "the context of the way home: the lock is given up, or the next request begun") \
    X(ABORTED, "none: its caller has its answer and its time") \
    X(ABORTED_EXTENDED, "the extension, to roll back and return") \
    X(ABORTED_HOME, "the context of the way home, for the same")

/* X(EVENT, "what happens") */
#define CAMKES_WORKER_EVENTS(X) \
    X(WITHDRAW, "its time is used up, or it waits for the lock and could pay for the holder") \
    X(RESTORE, "it executes on the time of its caller again, or waits for a refill of that") \
    X(STALL, "the same, while it holds the lock and no one pays") \
    X(GIVE, "it is given the lock, and was not passive") \
    X(RELEASE, "it gives up the lock, and was not passive") \
    X(HELP, "one that waits has a budget") \
    X(EXTEND, "the extension is free") \
    X(FINISH, "the context of the way home is free") \
    X(EXCHANGE, "another one is to have the extension, and the context of the way home is free") \
    X(ABORT, "its request ends") \
    X(ARRIVE, "it waits for callers")

/* X(STATE, EVENT, action, NEXT). If the action fails, as a Bind without budget, the state stays.
 * Other pairs do not occur. In a group, a worker that waits for a condition gives up the lock without
 * an event, and keeps the extension: so one that is stalled or extended can be given the lock. One
 * arrives on the extension while another is on the way home. */
#define CAMKES_WORKER_CHANGES(X) \
    X(PASSIVE, WITHDRAW, keep, WITHDRAWN) \
    X(STALLED, WITHDRAW, keep, WITHDRAWN) \
    X(STALLED, GIVE, none, PASSIVE) \
    X(STALLED, RELEASE, none, PASSIVE) \
    X(WITHDRAWN, RESTORE, restore, PASSIVE) \
    X(WITHDRAWN, GIVE, restore, PASSIVE) \
    X(WITHDRAWN, STALL, restore, STALLED) \
    X(WITHDRAWN, HELP, help, HELPED) \
    X(WITHDRAWN, EXTEND, extend, EXTENDED) \
    X(WITHDRAWN, FINISH, finish, FINISHING) \
    X(WITHDRAWN, ABORT, give_up, ABORTED) \
    X(HELPED, WITHDRAW, end, WITHDRAWN) \
    X(HELPED, RELEASE, give_back, WITHDRAWN) \
    X(EXTENDED, WITHDRAW, end, WITHDRAWN) \
    X(EXTENDED, GIVE, none, EXTENDED) \
    X(EXTENDED, RELEASE, give_back, WITHDRAWN) \
    X(EXTENDED, EXCHANGE, exchange, FINISHING) \
    X(EXTENDED, ARRIVE, arrive, PASSIVE) \
    X(FINISHING, ARRIVE, arrive, PASSIVE) \
    X(ABORTED, EXTEND, go_on_extension, ABORTED_EXTENDED) \
    X(ABORTED, FINISH, go_home, ABORTED_HOME) \
    X(ABORTED_EXTENDED, EXCHANGE, exchange, ABORTED_HOME) \
    X(ABORTED_EXTENDED, ARRIVE, arrive, PASSIVE) \
    X(ABORTED_HOME, ARRIVE, arrive, PASSIVE)
/* clang-format on */

#define CAMKES_STATE_ENUM(name, words) CAMKES_WORKER_##name,
enum camkes_worker_state { CAMKES_WORKER_STATES(CAMKES_STATE_ENUM) CAMKES_STATES };
#undef CAMKES_STATE_ENUM

/* The states of an aborted request are the last. */
static inline bool camkes_is_aborted(enum camkes_worker_state state)
{
    return state >= CAMKES_WORKER_ABORTED;
}

#define CAMKES_EVENT_ENUM(name, words) CAMKES_ON_##name,
enum camkes_worker_event { CAMKES_WORKER_EVENTS(CAMKES_EVENT_ENUM) CAMKES_EVENTS };
#undef CAMKES_EVENT_ENUM
