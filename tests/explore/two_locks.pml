/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Two nested inherited locks and three tasks on one processor, written from the design of the protocols
 * alone, before its author had read the runtime. Bit t of VIA is set if task t requests X, whose handler
 * requests Y; otherwise it requests Y. Each task has one job, which arrives at any time. Every order of what
 * happens is printed at its end, as numbers: 8 * what + 4 * lock + task.
 *
 * What differs from the runtime is in tests/explore/test_spin.py.
 */
#define TASKS 3
#define X 0
#define Y 1
#define NONE 9
#define LENGTH 24

#define TAKE 0
#define WAIT 1
#define GRANT 2
#define FREE 3
#define END 4

/* What a task does next. Take and release are a compare-and-swap or, where that fails, a call of the lock's
 * manager. */
mtype = { absent, take, ask, waits, inside, free, give, over, ended };

byte eff[TASKS];        /* effective priority, computed from its definition in every state */
mtype does[TASKS];
byte lock[TASKS];       /* the lock that `does` is about */
byte holder[2];
byte came[TASKS];       /* number of the arrival in a queue */
byte arrivals[2];
byte order[LENGTH];     /* what happened */
byte length;

#define VIA_X(t) ((VIA >> (t)) & 1)
#define READY(t) (does[t] != absent && does[t] != waits && does[t] != ended)

inline note(kind, l, t) { order[length] = 8 * (kind) + 4 * (l) + (t); length++ }

/* eff(o) = max(own request, requests that wait for a lock that o holds), along chains of locks */
inline inherit() {
    for (i : 0 .. 2) { eff[i] = i + 1 }
    for (k : 1 .. 2) {
        for (i : 0 .. 2) {
            if
            :: does[i] == waits && eff[holder[lock[i]]] < eff[i] -> eff[holder[lock[i]]] = eff[i]
            :: else
            fi
        }
    }
}

/* A call of a manager runs at the ceiling of the lock: the highest base priority that can request it */
inline schedule() {
    best = NONE; high = 0;
    for (i : 0 .. 2) {
        if
        :: READY(i) ->
            p = eff[i] * 2;
            if
            :: (does[i] == ask || does[i] == give) ->
                p = 2 * ((lock[i] == Y || VIA_X(2)) -> 3 : (VIA_X(1) -> 2 : 1)) + 1
            :: else
            fi;
            if :: p > high -> best = i; high = p :: else fi
        :: else
        fi
    }
}

inline have(t) { holder[lock[t]] = t; does[t] = inside }

/* To the waiter of the highest effective priority, the earliest among equals */
inline hand_over(l) {
    next = NONE;
    for (i : 0 .. 2) {
        if
        :: does[i] == waits && lock[i] == l ->
            if
            :: next == NONE -> next = i
            :: else ->
                if
                :: eff[i] > eff[next] || (eff[i] == eff[next] && came[i] < came[next]) -> next = i
                :: else
                fi
            fi
        :: else
        fi
    }
}

inline left(t) {
    if
    :: lock[t] == Y && VIA_X(t) -> lock[t] = X; does[t] = free
    :: else -> does[t] = over
    fi
}

inline step(t) {
    if
    :: does[t] == take ->
        if
        :: holder[lock[t]] == NONE -> note(TAKE, lock[t], t); have(t)
        :: else -> does[t] = ask
        fi
    :: does[t] == ask ->
        if
        :: holder[lock[t]] == NONE -> note(TAKE, lock[t], t); have(t)
        :: else -> note(WAIT, lock[t], t); does[t] = waits; came[t] = arrivals[lock[t]]; arrivals[lock[t]]++
        fi
    :: does[t] == inside ->
        if
        :: lock[t] == X -> lock[t] = Y; does[t] = take
        :: else -> does[t] = free
        fi
    :: does[t] == free ->
        hand_over(lock[t]);
        if
        :: next == NONE -> note(FREE, lock[t], t); holder[lock[t]] = NONE; left(t)
        :: else -> does[t] = give
        fi
    :: does[t] == give ->
        hand_over(lock[t]);
        note(FREE, lock[t], t); note(GRANT, lock[t], next);
        holder[lock[t]] = next; does[next] = inside;
        left(t)
    :: does[t] == over -> note(END, 0, t); does[t] = ended
    fi
}

init {
    byte i, k, p, best, high, next;
    atomic {
        holder[X] = NONE; holder[Y] = NONE;
        for (i : 0 .. 2) {
            does[i] = absent;
            lock[i] = (VIA_X(i) -> X : Y)
        }
        inherit(); schedule()
    }
    do
    :: atomic { does[0] == absent -> does[0] = take; inherit(); schedule() }
    :: atomic { does[1] == absent -> does[1] = take; inherit(); schedule() }
    :: atomic { does[2] == absent -> does[2] = take; inherit(); schedule() }
    :: atomic { best == 0 -> step(0); inherit(); schedule() }
    :: atomic { best == 1 -> step(1); inherit(); schedule() }
    :: atomic { best == 2 -> step(2); inherit(); schedule() }
    :: does[0] == ended && does[1] == ended && does[2] == ended -> break
    od;
    atomic {
        printf("outcome");
        for (i : 0 .. length - 1) { printf(" %d", order[i]) }
        printf("\n")
    }
}
