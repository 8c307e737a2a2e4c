/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The lines of the boot table and their fields: words, numbers, rights, names of objects. */
#include "boot/fields.h"
#include "record/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fields fields;

_Noreturn void field_bad(const struct line *line, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    give_up(2, "%s:%u: %s", fields.path, line->number, text);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    size_t size = 0, capacity = 4096, n;
    char *text = malloc(capacity);
    if (!file || !text) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    while ((n = fread(text + size, 1, capacity - size - 1, file)) > 0) {
        size += n;
        if (size + 1 == capacity) {
            capacity *= 2;
            text = realloc(text, capacity);
            if (!text) {
                give_up(2, "cannot read %s: it is too large", path);
            }
        }
    }
    if (ferror(file)) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    fclose(file);
    text[size] = 0;
    return text;
}

static void split_line(char *text, unsigned number)
{
    struct line line = {.number = number};
    char *rest = text, *field;
    while ((field = strsep(&rest, " \t\r"))) {
        if (*field == '#') {
            break;
        }
        if (*field == 0) {
            continue;
        }
        if (line.count == FIELDS) {
            field_bad(&line, "too many fields");
        }
        line.fields[line.count++] = field;
    }
    if (line.count == 0) {
        return;
    }
    if ((fields.count & (fields.count + 1)) == 0) {
        fields.lines = realloc(fields.lines, (2 * fields.count + 2) * sizeof *fields.lines);
        if (!fields.lines) {
            give_up(2, "%s: it is too large", fields.path);
        }
    }
    fields.lines[fields.count++] = line;
}

bool field_is(const struct line *line, const char *word)
{
    return strcmp(line->fields[0], word) == 0;
}

void field_expect(const struct line *line, unsigned least, unsigned most)
{
    if (line->count < least + 1 || line->count > most + 1) {
        field_bad(line, "a line `%s` has %u%s fields behind that word, here are %u",
                  line->fields[0], least, most > least ? " or more" : "", line->count - 1);
    }
}

uint64_t field_number(const struct line *line, unsigned field, uint64_t most)
{
    const char *text = line->fields[field];
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end || errno) {
        field_bad(line, "`%s` is not a number", text);
    }
    if (value > most) {
        field_bad(line, "%s is too large, the limit is %lu", text, (unsigned long)most);
    }
    return value;
}

uint8_t field_rights(const struct line *line, unsigned field)
{
    uint8_t set = 0;
    for (const char *c = line->fields[field]; *c; c++) {
        switch (*c) {
        case 'R':
            set |= RIGHT_READ;
            break;
        case 'W':
            set |= RIGHT_WRITE;
            break;
        case 'G':
            set |= RIGHT_GRANT;
            break;
        case 'P':
            set |= RIGHT_GRANT_REPLY;
            break;
        case 'X':
        case '-':
            break;
        default:
            field_bad(line, "`%c` is not a right; they are R, W, G, P", *c);
        }
    }
    return set;
}

struct object *field_object(const struct line *line, unsigned field)
{
    for (unsigned i = 0; i < kernel->object_count; i++) {
        if (strcmp(kernel->objects[i].name, line->fields[field]) == 0) {
            return &kernel->objects[i];
        }
    }
    field_bad(line, "there is no object %s", line->fields[field]);
}

struct object *field_object_of(const struct line *line, unsigned field, enum object_kind kind,
                               const char *word)
{
    struct object *object = field_object(line, field);
    if (object->kind != kind) {
        field_bad(line, "%s is not a %s", object->name, word);
    }
    return object;
}

/* Reads all lines; the first one has to be a boot table's. */
void fields_read(const char *path)
{
    fields.path = path;
    unsigned n = 0;
    char *rest = read_file(path), *line;
    while ((line = strsep(&rest, "\n"))) {
        split_line(line, ++n);
    }
    if (fields.count == 0 || !field_is(&fields.lines[0], "camkes-host-table") ||
        fields.lines[0].count != 2 || strcmp(fields.lines[0].fields[1], "1") != 0) {
        give_up(2, "%s: not a boot table (its first line must be `camkes-host-table 1`)",
                fields.path);
    }
}
