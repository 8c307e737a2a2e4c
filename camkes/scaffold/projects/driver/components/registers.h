/* The registers of the device. */
#pragma once

#include <stdint.h>

#define STATUS_RECEIVED 1u /* there is a character in `data`; the driver clears it */

typedef struct {
    volatile uint32_t status;
    volatile uint32_t data;
} registers_t;
