/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The requests of clients, in the order of their arrival. A client has one at a time. */
#pragma once

#define QUEUE_SIZE 16

typedef struct {
    _Atomic unsigned added;
    _Atomic int client[QUEUE_SIZE]; /* 0: not written yet */
} queue_t;
