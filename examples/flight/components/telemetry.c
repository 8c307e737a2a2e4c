/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <flight.h>
#include <stdio.h>

#define TUNED_AT 3 /* the ground sends other gains with this frame */

typedef struct {
    uint32_t number;
    int32_t roll, pitch; /* tenths of a degree */
    int32_t altitude;    /* cm */
} frame_t;

/* CRC-16 of CCITT. */
static uint16_t checksum(const void *data, size_t size)
{
    uint16_t crc = 0xffff;
    for (const uint8_t *byte = data; size > 0; byte++, size--) {
        crc ^= (uint16_t)(*byte << 8);
        for (int bit = 0; bit < 8; bit++) {
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
        }
    }
    return crc;
}

int run(void)
{
    for (int job = 0; camkes_next_job(); job++) {
        attitude_t attitude;
        vertical_t vertical;
        vehicle_get_attitude(&attitude);
        vehicle_get_vertical(&vertical);
        const frame_t frame = {
            .number = attitude.number,
            .roll = TENTHS(attitude.angle[ROLL]),
            .pitch = TENTHS(attitude.angle[PITCH]),
            .altitude = (int)(vertical.altitude * 100),
        };
        camkes_work(CAMKES_MS(6));
        printf("%4u ms: roll %5.1f, pitch %5.1f, altitude %5.2f m, %d Pa, checksum %04x\n", (unsigned)frame.number,
               frame.roll / 10.0, frame.pitch / 10.0, frame.altitude / 100.0, barometer_pascals() / 100,
               (unsigned)checksum(&frame, sizeof frame));
        if (job == TUNED_AT) {
            gains_t gains;
            parameters_get(&gains);
            gains.angle = 7;
            if (parameters_set(gains) != 0) {
                printf("the gains were not accepted\n");
            }
        }
    }
    return 0;
}
