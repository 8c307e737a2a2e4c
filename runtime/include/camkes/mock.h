/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What generated mocks of interfaces have in common. */
#pragma once

#include <camkes/test.h>

/* the last calls that a mock records, and how much of a string and of an array */
#define CAMKES_MOCK_CALLS 64
#define CAMKES_MOCK_TEXT 64
#define CAMKES_MOCK_ITEMS 16
/* answers that can be in a script at a time */
#define CAMKES_MOCK_ANSWERS 64

/* How a mock fails instead of answering. */
enum camkes_mock_failure {
    CAMKES_MOCK_ANSWERS_CALL,
    CAMKES_MOCK_CRASHES,       /* its component stops at a fault */
    CAMKES_MOCK_NEVER_ANSWERS, /* the thread that serves the call waits for ever */
};
