/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Two nested locks and three tasks on one processor, from the definitions in docs/protocols.md and not
 * from the runtime: who runs is the task of the highest effective priority
 *
 *     eff(o) = max(base(o), max { eff(w) : w waits for a lock that o holds })
 *
 * that has arrived and does not wait. Who finds a lock taken, or frees one that others wait for, asks its
 * manager, which has the priority of the lock's ceiling; among equals any can be next. Each task has one job, which arrives at any time. FIRST_A, FIRST_B and
 * FIRST_C are the locks that they take first: 0, and then also lock 1, or 1. Each order of what the tasks do
 * is printed as a line of numbers at its end: 8 * what + 4 * lock + task.
 */
#define TASKS 3
#define STEPS 24

#define TAKE 0
#define WAIT 1
#define GRANT 2
#define FREE 3
#define END 4

/* where a task is in its job */
#define NOT_ARRIVED 0
#define OUTSIDE 1 /* before the first lock */
#define IN_OUTER 2 /* holds lock 0, before lock 1 */
#define IN_INNER 3 /* holds lock 1 */
#define LEAVES_OUTER 4 /* has freed lock 1 */
#define BEHIND 5 /* holds no lock */
#define ENDED 6

#define next_lock(t) (place[t] == IN_OUTER -> 1 : first[t])

byte first[TASKS];
byte base[TASKS];
byte place[TASKS];
bool waits[TASKS];
byte asks[TASKS]; /* the manager of its lock, as the first, second ...; 0: not */
byte asked[2];
byte ceiling[2];
byte holder[2]; /* 0: free, else the task and one */
byte history[STEPS];
byte length;

/* what follows from the others; 0 between two steps */
byte effective[TASKS];
byte i, j, best, chosen, found;

inline log(what, lock, task)
{
    history[length] = 8 * (what) + 4 * (lock) + (task);
    length++;
}

/* A chain has at most as many links as there are tasks. */
inline compute()
{
    for (i : 0 .. TASKS - 1) {
        effective[i] = base[i];
    }
    for (j : 1 .. TASKS) {
        for (i : 0 .. TASKS - 1) {
            if
            :: waits[i] && effective[i] > effective[holder[next_lock(i)] - 1] ->
                effective[holder[next_lock(i)] - 1] = effective[i]
            :: else
            fi
        }
    }
}

inline forget()
{
    for (i : 0 .. TASKS - 1) {
        effective[i] = 0;
    }
    i = 0;
    j = 0;
    best = 0;
    chosen = 0;
    found = 0;
}

inline ask(task, lock)
{
    asked[lock]++;
    asks[task] = asked[lock]
}

/* By the task, or by the manager that it has asked. */
inline take(task, lock, by_manager)
{
    if
    :: holder[lock] == 0 ->
        holder[lock] = task + 1;
        place[task] = (lock == 0 -> IN_OUTER : IN_INNER);
        log(TAKE, lock, task)
    :: holder[lock] != 0 && by_manager ->
        waits[task] = true;
        log(WAIT, lock, task)
    :: else -> ask(task, lock)
    fi
}

#define waiter(lock) \
    ((waits[0] && next_lock(0) == lock) || (waits[1] && next_lock(1) == lock) || \
     (waits[2] && next_lock(2) == lock))

/* To the waiter of the highest effective priority, if there is one. */
inline release(task, lock)
{
    log(FREE, lock, task);
    place[task] = (lock == 1 && first[task] == 0 -> LEAVES_OUTER : BEHIND);
    holder[lock] = 0;
    best = 0;
    for (i : 0 .. TASKS - 1) {
        if
        :: waits[i] && next_lock(i) == lock && effective[i] > best ->
            best = effective[i];
            holder[lock] = i + 1
        :: else
        fi
    }
    if
    :: holder[lock] != 0 ->
        waits[holder[lock] - 1] = false;
        place[holder[lock] - 1] = (lock == 0 -> IN_OUTER : IN_INNER);
        log(GRANT, lock, holder[lock] - 1)
    :: else
    fi
}

/* The manager of lock 0 tells that of lock 1 what the holder of both inherits, which comes behind what others
 * asked before. */
#define untold(t) (first[t] == 0 && place[t] == IN_INNER && waiter(0) && asked[1] > 0)

#define ready(t) \
    (place[t] != NOT_ARRIVED && place[t] != ENDED && !waits[t] && asks[t] == 0 && !untold(t))

/* The lock whose manager a task asks; the task holds it, or not. */
#define asked_lock(t) (place[t] == LEAVES_OUTER -> 0 : (place[t] == IN_INNER -> 1 : next_lock(t)))

inline go_on(task)
{
    if
    :: place[task] == OUTSIDE -> take(task, first[task], false)
    :: place[task] == IN_OUTER -> take(task, 1, false)
    :: place[task] == IN_INNER ->
        if
        :: waiter(1) -> ask(task, 1)
        :: else -> release(task, 1)
        fi
    :: place[task] == LEAVES_OUTER ->
        if
        :: waiter(0) -> ask(task, 0)
        :: else -> release(task, 0)
        fi
    :: place[task] == BEHIND ->
        place[task] = ENDED;
        log(END, 0, task)
    fi
}

/* Answers who has asked first. */
inline manage(lock)
{
    for (i : 0 .. TASKS - 1) {
        if
        :: asks[i] != 0 && asked_lock(i) == lock ->
            asks[i]--;
            if
            :: asks[i] == 0 -> chosen = i
            :: else
            fi
        :: else
        fi
    }
    asked[lock]--;
    if
    :: place[chosen] == OUTSIDE || place[chosen] == IN_OUTER -> take(chosen, lock, true)
    :: else -> release(chosen, lock)
    fi
}

/* Whether nobody who can run has a higher priority. */
inline compare(mine)
{
    compute();
    found = true;
    for (i : 0 .. TASKS - 1) {
        if
        :: ready(i) && effective[i] > mine -> found = false
        :: else
        fi
    }
    for (i : 0 .. 1) {
        if
        :: asked[i] > 0 && ceiling[i] > mine -> found = false
        :: else
        fi
    }
}

active proctype system()
{
    d_step {
        first[0] = FIRST_A;
        first[1] = FIRST_B;
        first[2] = FIRST_C;
        base[0] = 10;
        base[1] = 20;
        base[2] = 30;
        ceiling[0] = (FIRST_C == 0 -> 30 : (FIRST_B == 0 -> 20 : 10));
        ceiling[1] = 30;
    }
    do
    :: d_step { place[0] == NOT_ARRIVED -> place[0] = OUTSIDE }
    :: d_step { place[1] == NOT_ARRIVED -> place[1] = OUTSIDE }
    :: d_step { place[2] == NOT_ARRIVED -> place[2] = OUTSIDE }
    :: d_step { ready(0) -> compare(effective[0]);
            if :: found -> go_on(0) :: else fi; forget() }
    :: d_step { ready(1) -> compare(effective[1]);
            if :: found -> go_on(1) :: else fi; forget() }
    :: d_step { ready(2) -> compare(effective[2]);
            if :: found -> go_on(2) :: else fi; forget() }
    :: d_step { asked[0] > 0 -> compare(ceiling[0]);
            if :: found -> manage(0) :: else fi; forget() }
    :: d_step { asked[1] > 0 -> compare(ceiling[1]);
            if :: found -> manage(1) :: else fi; forget() }
    :: atomic { (place[0] == ENDED && place[1] == ENDED && place[2] == ENDED) ->
            printf("outcome");
            for (i : 0 .. length - 1) {
                printf(" %d", history[i])
            }
            printf("\n");
            break
        }
    od
}
