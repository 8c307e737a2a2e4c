/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The contexts that wait for a CPI's lock: those whose rank is not 0. The greatest rank is first:
 * it has the priority of the request in its upper 8 bits, and in the others how early the wait
 * began.
 *
 * Contracts are ACSL: `make proof` proves them for any number of contexts.
 */
#pragma once

#include <camkes/cpi.h>

/* Distance of the ranks of two priorities; more than that many waits cannot be counted. */
#define CAMKES_RANKS (UINT64_C(1) << 56)

/*@ predicate valid_cpi{L}(struct camkes_cpi *cpi) =
        \valid(cpi) && \valid(cpi->context + (0 .. cpi->contexts - 1)) &&
        \separated(cpi, cpi->context + (0 .. cpi->contexts - 1));

    predicate waits{L}(struct camkes_cpi *cpi, integer i) = cpi->context[i].rank != 0;

    // How early the wait of a context began: less is later.
    logic integer earliness{L}(struct camkes_cpi *cpi, integer i) =
        cpi->context[i].rank - cpi->context[i].request * CAMKES_RANKS;

    // Ranks order by priority, then by how early the wait began.
    lemma order: \forall integer p, q, e, f; 0 < e < CAMKES_RANKS && 0 < f < CAMKES_RANKS ==>
        (p * CAMKES_RANKS + e > q * CAMKES_RANKS + f <==> p > q || (p == q && e > f));

    // Of two that wait, whether the lock is granted to `i` before `j`.
    predicate before{L}(struct camkes_cpi *cpi, integer i, integer j) =
        cpi->context[i].rank > cpi->context[j].rank;

    predicate ranked{L}(struct camkes_cpi *cpi) =
        \forall integer i; 0 <= i < cpi->contexts && waits(cpi, i) ==>
            CAMKES_RANKS - cpi->arrivals <= earliness(cpi, i) < CAMKES_RANKS;

    // No two waits began at once, so that the order is total.
    predicate distinct{L}(struct camkes_cpi *cpi) =
        \forall integer i, j; 0 <= i < cpi->contexts && 0 <= j < cpi->contexts && i != j &&
            waits(cpi, i) && waits(cpi, j) ==> earliness(cpi, i) != earliness(cpi, j);

    predicate apart{L}(struct camkes_cpi *cpi) =
        \forall integer i, j; 0 <= i < cpi->contexts && 0 <= j < cpi->contexts && i != j &&
            waits(cpi, i) && waits(cpi, j) ==> cpi->context[i].rank != cpi->context[j].rank;

    // Whether a link (index + 1, 0: none) leads to the first waiter below a rank, without `but`.
    predicate leads{L}(struct camkes_cpi *cpi, integer link, integer rank, integer but) =
        0 <= link <= cpi->contexts &&
        (link != 0 ==>
            link - 1 != but && waits(cpi, link - 1) && cpi->context[link - 1].rank < rank) &&
        \forall integer i; 0 <= i < cpi->contexts && i != but && waits(cpi, i) &&
            cpi->context[i].rank < rank ==>
                link != 0 && cpi->context[i].rank <= cpi->context[link - 1].rank;

    // The list has all waiters but one, in their order.
    predicate linked{L}(struct camkes_cpi *cpi, integer but) =
        leads(cpi, cpi->first, 256 * CAMKES_RANKS, but) &&
        \forall integer i; 0 <= i < cpi->contexts && i != but && waits(cpi, i) ==>
            leads(cpi, cpi->context[i].next, cpi->context[i].rank, but);

    predicate is_first{L}(struct camkes_cpi *cpi, integer i) =
        0 <= i < cpi->contexts && waits(cpi, i) &&
        \forall integer j; 0 <= j < cpi->contexts && j != i && waits(cpi, j) ==> before(cpi, i, j);

    predicate valid_queue{L}(struct camkes_cpi *cpi) =
        valid_cpi(cpi) && cpi->arrivals < CAMKES_RANKS &&
        ranked(cpi) && distinct(cpi) && linked(cpi, -1);

    // Only context `but` begins or ends to wait, or changes its place in the order.
    predicate others_same{K, L}(struct camkes_cpi *cpi, integer but) =
        \forall integer i; 0 <= i < \at(cpi->contexts, K) && i != but ==>
            \at(cpi->context[i].rank, L) == \at(cpi->context[i].rank, K);
*/

/*@ requires valid_queue(cpi) && index < cpi->contexts && !waits(cpi, index);
    requires cpi->arrivals < CAMKES_RANKS - 1;
    assigns cpi->arrivals, cpi->first, cpi->context[index].rank,
        cpi->context[0 .. cpi->contexts - 1].next;
    ensures valid: valid_queue(cpi);
    ensures added: waits(cpi, index) && others_same{Pre, Post}(cpi, index);
    ensures last: \forall integer i; 0 <= i < cpi->contexts && i != index && waits(cpi, i) &&
        cpi->context[i].request >= cpi->context[index].request ==> before(cpi, i, index); */
void camkes_queue_insert(struct camkes_cpi *cpi, uint16_t index);

/* Changes the priority of a request that waits. */
/*@ requires valid_queue(cpi) && index < cpi->contexts && waits(cpi, index);
    assigns cpi->first, cpi->context[index].rank, cpi->context[index].request,
        cpi->context[0 .. cpi->contexts - 1].next;
    ensures valid: valid_queue(cpi);
    ensures changed: cpi->context[index].request == priority;
    ensures stays: waits(cpi, index);
    ensures early: earliness(cpi, index) == earliness{Pre}(cpi, index);
    ensures others: others_same{Pre, Post}(cpi, index); */
void camkes_queue_change(struct camkes_cpi *cpi, uint16_t index, uint8_t priority);

/* Removes and returns the first context. One must wait. */
/*@ requires valid_queue(cpi) && cpi->first != 0;
    assigns cpi->first, cpi->context[cpi->first - 1].rank;
    ensures valid: valid_queue(cpi);
    ensures first: is_first{Pre}(cpi, \result);
    ensures removed: !waits(cpi, \result) && others_same{Pre, Post}(cpi, \result); */
uint16_t camkes_queue_take(struct camkes_cpi *cpi);

/* The first context; NULL if none waits. */
/*@ requires valid_queue(cpi);
    assigns \nothing;
    ensures none: cpi->first == 0 ==> \result == \null;
    ensures first: cpi->first != 0 ==> \result == &cpi->context[cpi->first - 1]; */
static inline struct camkes_context *camkes_queue_first(const struct camkes_cpi *cpi)
{
    return cpi->first != 0 ? &cpi->context[cpi->first - 1] : NULL;
}

/* Whether a context waits for the lock. */
/*@ requires \valid_read(context);
    assigns \nothing;
    ensures \result <==> context->rank != 0; */
static inline bool camkes_waits(const struct camkes_context *context)
{
    return context->rank != 0;
}

/*
 * The context whose request has the effective priority of `context`: the first waiter, if that has
 * a higher one and `context` holds the lock, else itself.
 */
/*@ requires valid_queue(cpi) && \valid_read(context);
    assigns \nothing;
    ensures one: \result == context ||
        (holds && cpi->first != 0 && \result == &cpi->context[cpi->first - 1]);
    ensures own: \result->request >= context->request;
    ensures highest: holds ==> \forall integer i; 0 <= i < cpi->contexts && waits(cpi, i) ==>
        \result->request >= cpi->context[i].request; */
static inline const struct camkes_context *
camkes_queue_source(const struct camkes_cpi *cpi, const struct camkes_context *context, bool holds)
{
    if (!holds || cpi->first == 0) {
        return context;
    }
    const struct camkes_context *first = camkes_queue_first(cpi);
    return first->request > context->request ? first : context;
}
