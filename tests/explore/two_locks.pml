/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Two nested locks and three tasks on one processor, from the definitions in docs/protocols.md and not
 * from the runtime: who runs is the task of the highest effective priority
 *
 *     eff(o) = max(base(o), max { eff(w) : w waits for a lock that o holds })
 *
 * that has arrived and does not wait. Each task has one job, which arrives at any time. FIRST_A, FIRST_B and
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
byte holder[2]; /* 0: free, else the task and one */
byte history[STEPS];
byte length;

/* what follows from the others; 0 between two steps */
byte effective[TASKS];
byte i, j, best, chosen;

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
}

inline take(task, lock)
{
    if
    :: holder[lock] == 0 ->
        holder[lock] = task + 1;
        place[task] = (lock == 0 -> IN_OUTER : IN_INNER);
        log(TAKE, lock, task)
    :: else ->
        waits[task] = true;
        log(WAIT, lock, task)
    fi
}

/* To the waiter of the highest effective priority, if there is one. */
inline release(task, lock)
{
    log(FREE, lock, task);
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

#define ready(t) (place[t] != NOT_ARRIVED && place[t] != ENDED && !waits[t])

active proctype system()
{
    d_step {
        first[0] = FIRST_A;
        first[1] = FIRST_B;
        first[2] = FIRST_C;
        base[0] = 10;
        base[1] = 20;
        base[2] = 30;
    }
    do
    :: d_step { place[0] == NOT_ARRIVED -> place[0] = OUTSIDE }
    :: d_step { place[1] == NOT_ARRIVED -> place[1] = OUTSIDE }
    :: d_step { place[2] == NOT_ARRIVED -> place[2] = OUTSIDE }
    :: d_step { (ready(0) || ready(1) || ready(2)) ->
            compute();
            for (i : 0 .. TASKS - 1) {
                if
                :: ready(i) && effective[i] > best -> best = effective[i]; chosen = i
                :: else
                fi
            }
            if
            :: place[chosen] == OUTSIDE -> take(chosen, first[chosen])
            :: place[chosen] == IN_OUTER -> take(chosen, 1)
            :: place[chosen] == IN_INNER ->
                release(chosen, 1);
                place[chosen] = (first[chosen] == 0 -> LEAVES_OUTER : BEHIND)
            :: place[chosen] == LEAVES_OUTER ->
                release(chosen, 0);
                place[chosen] = BEHIND
            :: place[chosen] == BEHIND ->
                place[chosen] = ENDED;
                log(END, 0, chosen)
            fi
            forget()
        }
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
