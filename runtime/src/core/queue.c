/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The list of contexts that wait for a lock, by priority and arrival. */
#include "queue.h"

/* Links a context, or the begin of the list if `before` is 0, to another one or none. */
/*@ requires valid_cpi(cpi) && before <= cpi->contexts;
    assigns cpi->first, cpi->context[0 .. cpi->contexts - 1].next;
    ensures cpi->first == (before == 0 ? link : \old(cpi->first));
    ensures before != 0 ==> cpi->context[before - 1].next == link;
    ensures \forall integer i; 0 <= i < cpi->contexts && i != before - 1 ==>
        cpi->context[i].next == \old(cpi->context[i].next); */
static void set_next(struct camkes_cpi *cpi, uint32_t before, uint32_t link)
{
    if (before == 0) {
        cpi->first = link;
    } else {
        cpi->context[before - 1].next = link;
    }
}

/* Puts a context into the list, by its rank. */
/*@ requires valid_cpi(cpi) && index < cpi->contexts && waits(cpi, index);
    requires apart(cpi) && linked(cpi, index);
    assigns cpi->first, cpi->context[0 .. cpi->contexts - 1].next;
    ensures linked: linked(cpi, -1); */
static void add(struct camkes_cpi *cpi, uint16_t index)
{
    uint32_t before = 0, after = cpi->first;
    /*@ loop invariant before <= cpi->contexts && before - 1 != index;
        loop invariant start: before == 0 ==> after == cpi->first;
        loop invariant prior: before != 0 ==>
            waits(cpi, before - 1) && after == cpi->context[before - 1].next &&
            cpi->context[before - 1].rank > cpi->context[index].rank;
        loop invariant leads: leads(cpi, after,
            before == 0 ? 256 * CAMKES_RANKS : cpi->context[before - 1].rank, index);
        loop assigns before, after;
        loop variant after == 0 ? 0 : cpi->context[after - 1].rank; */
    /* at most contexts times: each is in the list once */
    while (after != 0 && cpi->context[after - 1].rank > cpi->context[index].rank) {
        before = after;
        after = cpi->context[after - 1].next;
    }
    //@ assert after: leads(cpi, after, cpi->context[index].rank, -1);
    /*@ assert above: \forall integer i; 0 <= i < cpi->contexts && waits(cpi, i) &&
            cpi->context[i].rank > cpi->context[index].rank ==>
                before != 0 && cpi->context[i].rank >= cpi->context[before - 1].rank; */
    /*@ assert others: \forall integer i; 0 <= i < cpi->contexts && i != index &&
            i != before - 1 && waits(cpi, i) ==>
                leads(cpi, cpi->context[i].next, cpi->context[i].rank, -1); */
    cpi->context[index].next = after;
    set_next(cpi, before, index + 1u);
    //@ assert own: leads(cpi, cpi->context[index].next, cpi->context[index].rank, -1);
    /*@ assert prior: before != 0 ==>
            leads(cpi, cpi->context[before - 1].next, cpi->context[before - 1].rank, -1); */
    //@ assert first: leads(cpi, cpi->first, 256 * CAMKES_RANKS, -1);
    /*@ assert rest: \forall integer i; 0 <= i < cpi->contexts && i != index &&
            i != before - 1 && waits(cpi, i) ==>
                leads(cpi, cpi->context[i].next, cpi->context[i].rank, -1); */
}

/* Takes a context that waits out of the list. */
/*@ requires valid_cpi(cpi) && index < cpi->contexts && waits(cpi, index);
    requires apart(cpi) && linked(cpi, -1);
    assigns cpi->first, cpi->context[0 .. cpi->contexts - 1].next;
    ensures linked: linked(cpi, index); */
static void drop(struct camkes_cpi *cpi, uint16_t index)
{
    uint32_t before = 0, at = cpi->first;
    /*@ loop invariant before <= cpi->contexts && 0 < at <= cpi->contexts && before - 1 != index;
        loop invariant here: waits(cpi, at - 1) &&
            cpi->context[at - 1].rank >= cpi->context[index].rank;
        loop invariant start: before == 0 ==> at == cpi->first;
        loop invariant prior: before != 0 ==>
            waits(cpi, before - 1) && at == cpi->context[before - 1].next;
        loop assigns before, at;
        loop variant cpi->context[at - 1].rank; */
    /* at most contexts times: each is in the list once */
    while (at != index + 1u) {
        //@ assert greater: cpi->context[at - 1].rank > cpi->context[index].rank;
        //@ assert leads: leads(cpi, cpi->context[at - 1].next, cpi->context[at - 1].rank, -1);
        before = at;
        at = cpi->context[at - 1].next;
    }
    /*@ assert link: leads(cpi, cpi->context[index].next,
            before == 0 ? 256 * CAMKES_RANKS : cpi->context[before - 1].rank, index); */
    /*@ assert others: \forall integer i; 0 <= i < cpi->contexts && i != index &&
            i != before - 1 && waits(cpi, i) ==>
                leads(cpi, cpi->context[i].next, cpi->context[i].rank, index); */
    //@ assert apart: before != 0 ==> cpi->first - 1 != index;
    set_next(cpi, before, cpi->context[index].next);
    /*@ assert prior: before != 0 ==>
            leads(cpi, cpi->context[before - 1].next, cpi->context[before - 1].rank, index); */
    //@ assert first: leads(cpi, cpi->first, 256 * CAMKES_RANKS, index);
    /*@ assert rest: \forall integer i; 0 <= i < cpi->contexts && i != index &&
            i != before - 1 && waits(cpi, i) ==>
                leads(cpi, cpi->context[i].next, cpi->context[i].rank, index); */
}

/* Gives a context that begins to wait its rank. */
/*@ requires valid_cpi(cpi) && index < cpi->contexts && !waits(cpi, index);
    requires ranked(cpi) && distinct(cpi) && cpi->arrivals < CAMKES_RANKS - 1;
    assigns cpi->arrivals, cpi->context[index].rank;
    ensures arrivals: cpi->arrivals < CAMKES_RANKS;
    ensures ranked: ranked(cpi);
    ensures distinct: distinct(cpi);
    ensures apart: apart(cpi);
    ensures waits: waits(cpi, index) && others_same{Pre, Post}(cpi, index);
    ensures last: \forall integer i; 0 <= i < cpi->contexts && i != index && waits(cpi, i) &&
        cpi->context[i].request >= cpi->context[index].request ==> before(cpi, i, index); */
static void set_waiting(struct camkes_cpi *cpi, uint16_t index)
{
    struct camkes_context *context = &cpi->context[index];
    context->rank = context->request * CAMKES_RANKS + (CAMKES_RANKS - 1 - cpi->arrivals++);
}

/* Gives the request of a context that waits another priority. */
/*@ requires valid_cpi(cpi) && index < cpi->contexts && waits(cpi, index);
    requires ranked(cpi) && distinct(cpi) && cpi->arrivals < CAMKES_RANKS;
    assigns cpi->context[index].rank, cpi->context[index].request;
    ensures ranked: ranked(cpi);
    ensures distinct: distinct(cpi);
    ensures apart: apart(cpi);
    ensures changed: cpi->context[index].request == priority;
    ensures waits: waits(cpi, index) && others_same{Pre, Post}(cpi, index);
    ensures early: earliness(cpi, index) == earliness{Pre}(cpi, index); */
static void set_priority(struct camkes_cpi *cpi, uint16_t index, uint8_t priority)
{
    struct camkes_context *context = &cpi->context[index];
    context->rank = context->rank - context->request * CAMKES_RANKS + priority * CAMKES_RANKS;
    context->request = priority;
}

/* A context that is not in the list does not wait any more. */
/*@ requires valid_cpi(cpi) && index < cpi->contexts && linked(cpi, index);
    assigns cpi->context[index].rank;
    ensures linked: linked(cpi, -1);
    ensures gone: !waits(cpi, index) && others_same{Pre, Post}(cpi, index); */
static void set_done(struct camkes_cpi *cpi, uint16_t index)
{
    cpi->context[index].rank = 0;
}

void camkes_queue_insert(struct camkes_cpi *cpi, uint16_t index)
{
    //@ assert without: linked(cpi, index);
    set_waiting(cpi, index);
    //@ assert others: linked(cpi, index);
    add(cpi, index);
}

void camkes_queue_change(struct camkes_cpi *cpi, uint16_t index, uint8_t priority)
{
    //@ assert before: apart(cpi);
    drop(cpi, index);
    //@ ghost Dropped: ;
    set_priority(cpi, index, priority);
    //@ assert same: others_same{Dropped, Here}(cpi, index);
    //@ assert first: leads(cpi, cpi->first, 256 * CAMKES_RANKS, index);
    /*@ assert rest: \forall integer i; 0 <= i < cpi->contexts && i != index && waits(cpi, i) ==>
            leads(cpi, cpi->context[i].next, cpi->context[i].rank, index); */
    //@ assert others: linked(cpi, index);
    add(cpi, index);
    //@ assert ranked: ranked(cpi);
    //@ assert distinct: distinct(cpi);
}

uint16_t camkes_queue_take(struct camkes_cpi *cpi)
{
    const uint16_t taken = (uint16_t)(cpi->first - 1);
    //@ assert apart: apart(cpi);
    //@ assert first: is_first(cpi, taken);
    //@ assert next: leads(cpi, cpi->context[taken].next, 256 * CAMKES_RANKS, taken);
    /*@ assert others: \forall integer i; 0 <= i < cpi->contexts && i != taken && waits(cpi, i) ==>
            leads(cpi, cpi->context[i].next, cpi->context[i].rank, taken); */
    cpi->first = cpi->context[taken].next;
    set_done(cpi, taken);
    //@ assert ranked: ranked(cpi);
    //@ assert distinct: distinct(cpi);
    return taken;
}
