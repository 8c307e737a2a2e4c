# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A pump station written for the priority-aware-camkes library."""

from __future__ import annotations

SYSTEM = """\
/* A pump station. */
import <std_connector.camkes>;
#include "../priority-aware-camkes/priority-protocols.camkes.h"
import "../../priority-aware-camkes/priority-connectors.camkes";   // connectors

procedure Level {
    int read(in int sensor, in int priority, in int requestor);
    void set(in int sensor, in int value,
             in int priority, in int requestor);
    void nest(in int priority, in int requestor);
}
procedure Plain { int twice(in int priority); }   // has nothing to do with it

component Watch {
    control;
    task_priority_attributes()
    attribute int requestor;
    uses Level level;
    uses Plain calc;
}
component Tank {
    provides Level level;          // the lock
    interface_priority_attributes(level)
    uses Level store;
}
component Store {
    provides Level s;
    attribute int s_num_threads;
    attribute int s_priority;
    attribute string s_priority_protocol;
}
component Calc { provides Plain c; }

#define tank_level_num_threads 3

assembly {
    composition {
        component Watch fast;
        component Watch slow;
        component Tank tank;
        component Store store;
        component Calc calc;
        connection rpc(tank_level_num_threads) to_tank(from fast.level, from slow.level, to tank.level);
        connection seL4RPCCallPrioritized1 to_store(from tank.store, to store.s);
        connection seL4RPCCall to_calc(from fast.calc, from slow.calc, to calc.c);
    }
    configuration {
        fast._priority = 40;
        fast.requestor = __COUNTER__;
        slow._priority = 20;
        slow.requestor = __COUNTER__;
        tank.level_priority = 41;  // one above
        tank.level_num_threads = tank_level_num_threads;
        tank.level_priority_protocol = "inherited";
        store.s_priority = 254;
        store.s_num_threads = 1;
        store.s_priority_protocol = "fixed";
    }
}
"""

WATCH = """\
#include <camkes.h>
#include <stdio.h>

static int next(void) { static int n; return ++n; }

int run(void)
{
    int twice = calc_twice(_priority);   /* a parameter of that name that stays */
    level_set(1, 5 * twice, _priority, requestor);
    printf("%s read %d at %d\\n", get_instance_name(), level_read(1, _priority, requestor), _priority);
    level_read(next(), _priority, next());
    return requestor < 0;
}
"""

TANK = """\
#include <camkes.h>
#include "priority-protocols/priority-protocols.h"

NEST(level)

void level_init(void) {}

static int helper(int value, int prio) { return value + 0 * prio; }

int level_read(int sensor, int priority, int requestor)
{
    if (priority > 100 && requestor == 7) {
        return -1;
    }
    return helper(REQUEST(level, store, read, sensor), priority);
}

void level_set(int sensor, int value, const int priority, const int requestor)
{
    REQUEST(level, store, set, sensor, value);
}
"""

STORE = """\
#include <camkes.h>

static int values[4];

void s_init() { values[0] = 1; }

int s_read(int sensor, int priority, int requestor) { return values[sensor & 3]; }

void s_set(int sensor, int value, int priority, int requestor)
{
    priority++;
    values[sensor & 3] = value + (priority < 0);
}

void s_nest(int priority, int requestor) {}
"""

CALC = "#include <camkes.h>\nint c_twice(int priority) { return priority / priority * 2; }\n"

LISTS = """\
cmake_minimum_required(VERSION 3.7.2)
project(pump C)

DeclareCAmkESComponent(Watch SOURCES watch.c)
DeclareCAmkESComponent(Tank SOURCES
    tank.c
    ../priority-aware-camkes/priority-protocols/priority-protocols.c   # the library
    ../priority-aware-camkes/priority-protocols/priority-inheritance.c
)
DeclareCAmkESComponent(Store SOURCES store.c ../priority-aware-camkes/priority-protocols/priority-protocols.c)
DeclareCAmkESComponent(Calc SOURCES calc.c)

CAmkESAddTemplatesPath("../priority-aware-camkes")
foreach(i RANGE 1 3)
    DeclareCAmkESConnector(seL4RPCCallPrioritized${i}
        FROM seL4RPCCall-from.template.c
        TO seL4RPCCallPrioritized-to.template.c)
endforeach()

DeclareCAmkESRootserver(pump.camkes)
"""

FILES = {
    "pump.camkes": SYSTEM,
    "watch.c": WATCH,
    "tank.c": TANK,
    "store.c": STORE,
    "calc.c": CALC,
    "CMakeLists.txt": LISTS,
}
