/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

void publish_publish(int value)
{
    topic->value = value;
    message_emit();
}
