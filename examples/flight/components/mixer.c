/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>

#define MOST 1000

/* Four motors: 0 in front on the right, 1 behind on the left, 2 in front on the left, 3 behind on the right. 0 and 1
 * turn the other way than 2 and 3. Attitude comes before altitude: if a motor is at an end of its range, all give way. */
void mix_mix(int thrust, int roll, int pitch, int yaw)
{
    int motor[4] = {
        thrust - roll + pitch + yaw,
        thrust + roll - pitch + yaw,
        thrust + roll + pitch - yaw,
        thrust - roll - pitch - yaw,
    };
    int least = motor[0], most = motor[0];
    for (int i = 1; i < 4; i++) {
        least = motor[i] < least ? motor[i] : least;
        most = motor[i] > most ? motor[i] : most;
    }
    const int shift = most > MOST ? MOST - most : least < 0 ? -least : 0;
    for (int i = 0; i < 4; i++) {
        const int value = motor[i] + shift;
        motor[i] = value < 0 ? 0 : value > MOST ? MOST : value;
    }
    camkes_work(CAMKES_US(10));
    output_set(motor[0], motor[1], motor[2], motor[3]);
}
