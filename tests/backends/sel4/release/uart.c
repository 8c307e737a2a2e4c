/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <stdint.h>

#ifdef UART_PORTS

/* a 16550: transmitter's data, line status */
static void send(char character)
{
    while ((port_in8_offset(5) & 0x20) == 0) {
    }
    port_out8_offset(0, (uint8_t)character);
}

#else

/* a PL011: data, flags */
static void send(char character)
{
    volatile uint32_t *registers = (void *)port;
    while ((registers[6] & 0x20) != 0) {
    }
    registers[0] = (uint8_t)character;
}

#endif

void text_say(const char *text)
{
    while (*text != '\0') {
        send(*text++);
    }
    send('\r');
    send('\n');
}
