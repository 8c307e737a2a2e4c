#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
for module in /lib/modules/[0-9]*.ko; do
    insmod "$module"
done
ifconfig eth0 10.0.0.2 up
ask emordnilap
