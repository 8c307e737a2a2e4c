# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes that a user makes, each in one place of a good application, for test_mistakes.py."""

from __future__ import annotations

ADL, CLIENT, SERVER, LISTS, HEADER = "a.camkes", "client.c", "server.c", "CMakeLists.txt", "include/act.h"

FILES = {
    ADL: """\
import <std_connector.camkes>;
procedure P {
    include "act.h";
    int go(in int a, out act_t b);
    void say(in string text);
    int sum(in int list[]);
}
struct place { int x; int y; }
component Client {
    control;
    uses P p;
    emits Ping ping;
    dataport Buf(4096) d;
    attribute place where;
    attribute int count = 3;
    attribute string name = "c";
    attribute int list[];
    include "act.h";
    has mutex m;
}
component Server {
    provides P q;
    consumes Ping pong;
    dataport Buf(4096) e;
}
assembly {
    composition {
        component Client c;
        component Server s;
        connection seL4RPCCall r(from c.p, to s.q);
        connection seL4Notification n(from c.ping, to s.pong);
        connection seL4SharedData m(from c.d, to s.e);
    }
    configuration {
        c.where = { "x": 1, "y": 2 };
        c.list = [1, 2, 3];
        c._priority = 10;
    }
}
""",
    CLIENT: """\
#include <camkes.h>
int run(void)
{
    act_t b;
    int list[2] = {1, 2};
    p_go(1, &b);
    p_say("x");
    p_sum(2, list);
    ping_emit();
    *(volatile int *)d = where.x + count + list[0];
    return m_lock() || m_unlock();
}
""",
    SERVER: """\
#include <camkes.h>
int q_go(int a, act_t *b)
{
    b->x = a;
    return 0;
}
void q_say(const char *text)
{
    (void)text;
}
int q_sum(size_t n, const int *list)
{
    return n ? list[0] : 0;
}
void pong__init(void)
{
    pong_reg_callback(0, 0);
}
""",
    HEADER: """\
#pragma once
typedef struct { int x; } act_t;
""",
    LISTS: """\
cmake_minimum_required(VERSION 3.16)
project(a C)
DeclareCAmkESComponent(Client SOURCES client.c INCLUDES include)
DeclareCAmkESComponent(Server SOURCES server.c INCLUDES include)
DeclareCAmkESRootserver(a.camkes)
""",
}

#: Of each mistake: the file, what is there, and what is written in its place.
MISTAKES = {
    "star_type": (ADL, "in int a,", "in int *a,"),
    "no_name": (ADL, "in int a,", "in int,"),
    "direction_twice": (ADL, "in int a,", "in out int a,"),
    "same_parameter": (ADL, "out act_t b", "out act_t a"),
    "same_method": (ADL, "void say(in string text)", "void go(in string text)"),
    "no_result": (ADL, "    void say(", "    say("),
    "result_array": (ADL, "int sum(in int list[])", "int[] sum(in int list[])"),
    "array_size": (ADL, "in int list[]", "in int list[4]"),
    "array_before": (ADL, "in int list[]", "in int[] list"),
    "const": (ADL, "in string text", "in const char text"),
    "char_pointer": (ADL, "in string text", "in char* text"),
    "long_long": (ADL, "in int a,", "in long long a,"),
    "enum": (ADL, "in int a,", "in enum colour a,"),
    "struct_unknown": (ADL, "in int a,", "in struct acct a,"),
    "cap_type": (ADL, "in string text", "in String text"),
    "no_paren": (ADL, "void say(in string text);", "void say;"),
    "missing_comma": (ADL, "in int a, out", "in int a out"),
    "body": (ADL, "void say(in string text);", "void say(in string text) { }"),
    "include_no_quotes": (ADL, 'procedure P {\n    include "act.h"', "procedure P {\n    include act.h"),
    "include_hash": (ADL, 'procedure P {\n    include "act.h";', 'procedure P {\n#include "act.h"'),
    "include_misspelt": (ADL, 'procedure P {\n    include "act.h"', 'procedure P {\n    include "atc.h"'),
    "include_missing": (ADL, '    include "act.h";\n    int go', "    int go"),
    "keyword_param": (ADL, "in int a,", "in int for,"),
    "c_keyword_method": (ADL, "void say(", "void switch("),
    "macro_name": (ADL, "in int a,", "in int NULL,"),
    "procedure_misspelt": (ADL, "procedure P {", "proceedure P {"),
    "procedure_twice": (ADL, "struct place", "procedure P { int go(in int a); }\nstruct place"),
    "struct_unknown_type": (ADL, "attribute place where", "attribute plaice where"),
    "struct_member_type": (ADL, "struct place { int x;", "struct place { itn x;"),
    "struct_value_member": (ADL, '{ "x": 1, "y": 2 }', '{ "x": 1, "z": 2 }'),
    "struct_value_missing": (ADL, '{ "x": 1, "y": 2 }', '{ "x": 1 }'),
    "struct_value_type": (ADL, '{ "x": 1, "y": 2 }', '{ "x": 1, "y": "2" }'),
    "struct_value_number": (ADL, '{ "x": 1, "y": 2 }', "3"),
    "struct_value_c": (ADL, '{ "x": 1, "y": 2 }', "{ 1, 2 }"),
    "struct_value_dot": (ADL, '{ "x": 1, "y": 2 }', "{ .x = 1, .y = 2 }"),
    "struct_value_colon": (ADL, '{ "x": 1, "y": 2 }', "{ x: 1, y: 2 }"),
    "array_value_braces": (ADL, "[1, 2, 3]", "{1, 2, 3}"),
    "array_value_type": (ADL, "[1, 2, 3]", '[1, "2", 3]'),
    "attribute_value_type": (ADL, "attribute int count = 3", 'attribute int count = "3"'),
    "attribute_string_type": (ADL, 'attribute string name = "c"', "attribute string name = 3"),
    "attribute_unset": (ADL, '        c.where = { "x": 1, "y": 2 };\n', ""),
    "attribute_twice": (ADL, "attribute int count = 3;", "attribute int count = 3; attribute int count = 4;"),
    "attribute_is_interface": (
        ADL,
        "attribute int count = 3;",
        "attribute int count = 3; attribute int p = 4;",
    ),
    "connector_misspelt": (ADL, "seL4RPCCall r", "seL4RPCcall r"),
    "connector_kind": (ADL, "seL4RPCCall r", "seL4SharedData r"),
    "connector_event": (ADL, "seL4Notification n", "seL4RPCCall n"),
    "connection_swapped": (ADL, "from c.p, to s.q", "from s.q, to c.p"),
    "connection_no_to": (ADL, "(from c.p, to s.q)", "(from c.p)"),
    "connection_interface": (ADL, "to s.q", "to s.qq"),
    "connection_instance": (ADL, "to s.q", "to ss.q"),
    "connection_no_dot": (ADL, "to s.q", "to s"),
    "connection_name_missing": (ADL, "seL4RPCCall r(", "seL4RPCCall ("),
    "connection_same_name": (ADL, "seL4Notification n(", "seL4Notification r("),
    "connection_gone": (ADL, "        connection seL4RPCCall r(from c.p, to s.q);\n", ""),
    "connection_arrow": (ADL, "(from c.p, to s.q)", "(c.p -> s.q)"),
    "connect_keyword": (ADL, "        connection seL4RPCCall", "        connect seL4RPCCall"),
    "connection_brackets": (ADL, "r(from c.p, to s.q);", "r[from c.p, to s.q];"),
    "connection_semicolon": (ADL, "from c.p, to", "from c.p; to"),
    "event_type": (ADL, "consumes Ping pong", "consumes Pong pong"),
    "event_is_procedure": (ADL, "consumes Ping pong", "consumes P pong"),
    "event_provides": (ADL, "consumes Ping pong", "provides Ping pong"),
    "event_emit": (ADL, "emits Ping ping", "emit Ping ping"),
    "event_no_type": (ADL, "emits Ping ping", "emits ping"),
    "dataport_type": (ADL, "dataport Buf(4096) e", "dataport Bug(4096) e"),
    "dataport_size": (ADL, "dataport Buf(4096) e", "dataport Buf(8192) e"),
    "dataport_no_type": (ADL, "dataport Buf(4096) e", "dataport e"),
    "dataport_size_text": (ADL, "dataport Buf(4096) e", 'dataport Buf("4096") e'),
    "component_unknown": (ADL, "component Server s;", "component Sever s;"),
    "control_value": (ADL, "    control;", "    control = true;"),
    "controll": (ADL, "    control;", "    controll;"),
    "provides_unknown": (ADL, "provides P q", "provides Q q"),
    "has_mutx": (ADL, "has mutex m;", "has mutx m;"),
    "mutex_no_has": (ADL, "has mutex m;", "mutex m;"),
    "no_composition": (ADL, "    composition {\n", "    compostion {\n"),
    "composition_gone": (ADL, "    composition {\n", "    {\n"),
    "configuration_colon": (ADL, "c._priority = 10;", "c._priority: 10;"),
    "configuration_eq": (ADL, "c._priority = 10;", "c._priority == 10;"),
    "configuration_space": (ADL, "c._priority = 10;", "c. priority 10;"),
    "priority_range": (ADL, "c._priority = 10;", "c._priority = 300;"),
    "import_no_brackets": (ADL, "import <std_connector.camkes>;", "import std_connector.camkes;"),
    "import_misspelt": (ADL, "import <std_connector.camkes>;", "import <std_connectors.camkes>;"),
    "import_hash": (ADL, "import <std_connector.camkes>;", "#include <std_connector.camkes>"),
    "import_quotes": (ADL, "import <std_connector.camkes>;", 'import "std_connector.camkes";'),
    "run_misspelt": (CLIENT, "int run(void)", "int Run(void)"),
    "run_main": (CLIENT, "int run(void)", "int main(void)"),
    "run_static": (CLIENT, "int run(void)", "static int run(void)"),
    "run_void": (CLIENT, "int run(void)\n{", "void run(void)\n{"),
    "run_argument": (CLIENT, "int run(void)", "int run(int argc)"),
    "run_twice": (CLIENT, "int run(void)", "int run(void) { return 0; }\nint run(void)"),
    "run_float": (CLIENT, "int run(void)", "char *run(void)"),
    "handler_missing": (SERVER, "void q_say(const char *text)\n{\n    (void)text;\n}\n", ""),
    "handler_misspelt": (SERVER, "void q_say(", "void q_sya("),
    "handler_static": (SERVER, "void q_say(", "static void q_say("),
    "handler_prefix": (SERVER, "void q_say(", "void s_say("),
    "handler_component_prefix": (SERVER, "void q_say(", "void Server_say("),
    "handler_no_prefix": (SERVER, "void q_say(", "void say("),
    "handler_type": (SERVER, "q_say(const char *text)", "q_say(int text)"),
    "handler_result": (SERVER, "int q_go(int a, act_t *b)", "void q_go(int a, act_t *b)"),
    "handler_fewer": (SERVER, "int q_go(int a, act_t *b)\n{\n    b->x = a;", "int q_go(int a)\n{"),
    "handler_more": (SERVER, "q_say(const char *text)", "q_say(const char *text, int n)"),
    "handler_by_value": (SERVER, "act_t *b)\n{\n    b->x", "act_t b)\n{\n    b.x"),
    "handler_array": (
        SERVER,
        "q_sum(size_t n, const int *list)\n{\n    return n ? list[0] : 0;",
        "q_sum(const int *list)\n{\n    return list[0];",
    ),
    "handler_twice": (SERVER, "void q_say(", "void q_say(const char *text) { (void)text; }\nvoid q_say("),
    "handler_const": (SERVER, "q_say(const char *text)", "q_say(char *text)"),
    "handler_order": (SERVER, "q_sum(size_t n, const int *list)", "q_sum(const int *list, size_t n)"),
    "call_misspelt": (CLIENT, "    p_say(", "    p_sya("),
    "call_prefix": (CLIENT, "    p_say(", "    q_say("),
    "call_fewer": (CLIENT, "p_go(1, &b)", "p_go(1)"),
    "call_more": (CLIENT, 'p_say("x")', 'p_say("x", 1)'),
    "call_value": (CLIENT, "p_go(1, &b)", "p_go(1, b)"),
    "emit_misspelt": (CLIENT, "ping_emit()", "ping_emits()"),
    "emit_other": (CLIENT, "ping_emit()", "pong_emit()"),
    "undefined_c": (
        CLIENT,
        "    return m_lock() || m_unlock();",
        "    extern int helper(void);\n    return helper();",
    ),
    "init_static": (SERVER, "void pong__init(void)", "static void pong__init(void)"),
    "init_type": (SERVER, "void pong__init(void)\n{", "int pong__init(int x)\n{"),
    "generated_name": (CLIENT, "int run(void)", "void p_say(const char *x) { (void)x; }\nint run(void)"),
    "dataport_defined": (CLIENT, "int run(void)", "int d;\nint run(void)"),
    "cmake_source": (LISTS, "SOURCES server.c", "SOURCES sever.c"),
    "cmake_name": (LISTS, "Component(Server", "Component(Sever"),
    "cmake_function": (LISTS, "DeclareCAmkESComponent(Server", "DeclareCAmkesComponents(Server"),
    "cmake_gone": (LISTS, "DeclareCAmkESComponent(Server SOURCES server.c INCLUDES include)\n", ""),
    "cmake_include": (LISTS, "server.c INCLUDES include", "server.c INCLUDES inclde"),
    "cmake_include_gone": (LISTS, "server.c INCLUDES include", "server.c"),
    "cmake_root": (LISTS, "Rootserver(a.camkes)", "Rootserver(b.camkes)"),
    "cmake_root_gone": (LISTS, "DeclareCAmkESRootserver(a.camkes)\n", ""),
    "cmake_paren": (LISTS, "SOURCES server.c INCLUDES include)", "SOURCES server.c INCLUDES include"),
    "cmake_header": (LISTS, "SOURCES server.c", "SOURCES server.h"),
}
