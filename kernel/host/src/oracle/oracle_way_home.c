/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * On an MCS kernel: workers between the answer to a request, or its abort, and the next message
 * that they receive. A roll-back has the lock of its request until it ends, but what its caller
 * does meanwhile is another matter.
 */
#include "oracle/oracle.h"

static bool is_worker(unsigned thread)
{
    return oracle_system.threads[thread].role == ORACLE_WORKER;
}

static void abort_request(unsigned worker)
{
    struct oracle_memory *memory = &oracle->threads[worker];
    memory->aborted = true;
    if (memory->request_cpi == NONE) {
        return;
    }
    const struct oracle_cpi *cpi = &oracle_system.cpis[memory->request_cpi];
    if (oracle_holds(&oracle->locks[cpi->lock], memory->request_of)) {
        memory->kept_lock = cpi->lock;
        memory->kept_by = memory->request_of;
    }
    if (cpi->suspends && memory->client != NONE) { /* which need not be answered */
        memory->client = NONE;
        memory->answered = true;
    }
}

static void of_clients(unsigned client)
{
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        if (oracle->threads[i].client == client) {
            oracle->threads[i].client = NONE;
            oracle->threads[i].answered = true;
        }
    }
}

static void freed(const uint64_t *args)
{
    if (args[0] >= oracle_system.cpi_count) {
        return;
    }
    const unsigned lock = oracle_system.cpis[args[0]].lock;
    for (unsigned i = 0; i < oracle_system.thread_count; i++) {
        struct oracle_memory *memory = &oracle->threads[i];
        if (memory->kept_lock == lock && memory->kept_by == args[1]) {
            memory->kept_lock = memory->kept_by = NONE;
        }
    }
}

/* A record of a thread. */
void oracle_way_home(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args)
{
    switch (kind) {
    case CAMKES_TRACE_KCALL:
        oracle->restarting = args[0] == CAMKES_KCALL_RESUME ? (uint16_t)thread : NONE;
        break;
    case CAMKES_TRACE_READY:
        if (other != NONE && other == oracle->restarting && is_worker(thread)) {
            abort_request(thread);
        }
        break;
    case CAMKES_TRACE_REPLY:
        if (other != NONE) {
            of_clients(other);
        }
        break;
    case CAMKES_TRACE_TRANSFER:
        if (other != NONE && is_worker(other) &&
            oracle_system.threads[thread].role != ORACLE_MANAGER) {
            struct oracle_memory *worker = &oracle->threads[other];
            worker->client = (uint16_t)thread;
            worker->answered = worker->aborted = false;
        }
        break;
    case CAMKES_TRACE_LOCK_FREE:
        freed(args);
        break;
    default:
        break;
    }
}
