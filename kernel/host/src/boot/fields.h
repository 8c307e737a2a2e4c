/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The lines of the boot table. What is wrong with one ends the program. */
#pragma once

#include "state.h"

enum { FIELDS = 12 };

struct line {
    unsigned number; /* in the file */
    unsigned count;
    char *fields[FIELDS];
};

struct fields {
    const char *path;
    struct line *lines;
    unsigned count;
};

extern struct fields fields;

/* fields.c */
void fields_read(const char *path);
_Noreturn void field_bad(const struct line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool field_is(const struct line *line, const char *word);
void field_expect(const struct line *line, unsigned least, unsigned most);
uint64_t field_number(const struct line *line, unsigned field, uint64_t most);
uint8_t field_rights(const struct line *line, unsigned field);
struct object *field_object(const struct line *line, unsigned field);
struct object *field_object_of(const struct line *line, unsigned field, enum object_kind kind,
                               const char *word);

/* table_mcs.c */
bool table_read_time(const struct line *line);
void table_read_context(const struct line *line, struct object *object);
