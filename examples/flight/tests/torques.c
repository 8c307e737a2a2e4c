/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <mocks.h>

void pre_init(void)
{
    mock_mixer_mix_call(.thrust = 500, .roll = 10);
    mock_mixer_mix_call(.thrust = 500, .pitch = 10);
    mock_mixer_mix_call(.thrust = 500, .yaw = 10);
    mock_mixer_mix_call(.thrust = 950, .roll = 100);
    mock_mixer_mix_call(.thrust = 50, .pitch = 100);
    mock_mixer_mix_call(.thrust = 500, .roll = 600);
}
