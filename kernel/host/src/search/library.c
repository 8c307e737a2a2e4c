/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What functions of the C library access: components that are watched are linked so that they call
 * those here in their place (`--wrap`, for each name that the kernel has behind `__wrap_`).
 *
 * What is copied or set goes in pieces, with a point before each, so that others can see a part.
 * The other functions access their memory before they do what they do at once.
 */
#include "search/accesses.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTS(type, name, ...)                                                                   \
    __attribute__((visibility("default"))) type name(__VA_ARGS__);                                 \
    type name(__VA_ARGS__)
#define WRAPS(type, name, ...) EXPORTS(type, __wrap_##name, __VA_ARGS__)
#define FROM __builtin_return_address(0)
#define READS(address, size) accesses_range(address, size, false, FROM)
#define WRITES(address, size) accesses_range(address, size, true, FROM)
#define READS_STRING(text) READS(text, strlen(text) + 1)
#define READS_PART(text, most) READS(text, part_of(text, most))

enum { PIECES = 4 };

/* What a function reads of a string that it reads at most so many bytes of. */
static size_t part_of(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    return length < most ? length + 1 : most;
}

/* ---- in pieces ---- */

static size_t piece_of(size_t size)
{
    const size_t words = (size + sizeof(uintptr_t) - 1) / sizeof(uintptr_t);
    return (words + PIECES - 1) / PIECES * sizeof(uintptr_t);
}

/* Backwards where the parts overlap so that it must be. */
static void *copy(void *to, const void *from, size_t size, const void *caller)
{
    const size_t piece = piece_of(size);
    const bool backwards = (uintptr_t)to - (uintptr_t)from < size;
    for (size_t done = 0; done < size;) {
        const size_t step = size - done < piece ? size - done : piece;
        const size_t at = backwards ? size - done - step : done;
        accesses_range((const char *)from + at, step, false, caller);
        accesses_range((const char *)to + at, step, true, caller);
        memmove((char *)to + at, (const char *)from + at, step);
        done += step;
    }
    return to;
}

WRAPS(void *, memcpy, void *to, const void *from, size_t size)
{
    return copy(to, from, size, FROM);
}

WRAPS(void *, memmove, void *to, const void *from, size_t size)
{
    return copy(to, from, size, FROM);
}

WRAPS(void *, mempcpy, void *to, const void *from, size_t size)
{
    return (char *)copy(to, from, size, FROM) + size;
}

static void *set(void *to, int value, size_t size, const void *caller)
{
    const size_t piece = piece_of(size);
    for (size_t done = 0; done < size; done += piece) {
        const size_t step = size - done < piece ? size - done : piece;
        accesses_range((char *)to + done, step, true, caller);
        memset((char *)to + done, value, step);
    }
    return to;
}

WRAPS(void *, memset, void *to, int value, size_t size)
{
    return set(to, value, size, FROM);
}

/* Clang has these for structs that are copied. */
EXPORTS(void *, __tsan_memcpy, void *to, const void *from, size_t size)
{
    return copy(to, from, size, FROM);
}

EXPORTS(void *, __tsan_memmove, void *to, const void *from, size_t size)
{
    return copy(to, from, size, FROM);
}

EXPORTS(void *, __tsan_memset, void *to, int value, size_t size)
{
    return set(to, value, size, FROM);
}

WRAPS(char *, strcpy, char *to, const char *from)
{
    return copy(to, from, strlen(from) + 1, FROM);
}

WRAPS(char *, stpcpy, char *to, const char *from)
{
    const size_t length = strlen(from);
    return (char *)copy(to, from, length + 1, FROM) + length;
}

WRAPS(char *, strncpy, char *to, const char *from, size_t size)
{
    const size_t length = strnlen(from, size);
    copy(to, from, length, FROM);
    WRITES(to + length, size - length);
    memset(to + length, 0, size - length);
    return to;
}

WRAPS(char *, strcat, char *to, const char *from)
{
    READS_STRING(to);
    copy(to + strlen(to), from, strlen(from) + 1, FROM);
    return to;
}

WRAPS(char *, strncat, char *to, const char *from, size_t most)
{
    READS_STRING(to);
    char *end = to + strlen(to);
    const size_t length = strnlen(from, most);
    copy(end, from, length, FROM);
    WRITES(end + length, 1);
    end[length] = 0;
    return to;
}

/* ---- at once ---- */

WRAPS(int, memcmp, const void *a, const void *b, size_t size)
{
    READS(a, size);
    READS(b, size);
    return memcmp(a, b, size);
}

WRAPS(void *, memchr, const void *in, int value, size_t size)
{
    READS(in, size);
    return (void *)(uintptr_t)memchr(in, value, size);
}

WRAPS(size_t, strlen, const char *text)
{
    READS_STRING(text);
    return strlen(text);
}

WRAPS(size_t, strnlen, const char *text, size_t most)
{
    READS_PART(text, most);
    return strnlen(text, most);
}

WRAPS(int, strcmp, const char *a, const char *b)
{
    READS_STRING(a);
    READS_STRING(b);
    return strcmp(a, b);
}

WRAPS(int, strncmp, const char *a, const char *b, size_t most)
{
    READS_PART(a, most);
    READS_PART(b, most);
    return strncmp(a, b, most);
}

#define READS_TWO(type, name)                                                                      \
    WRAPS(type, name, const char *a, const char *b)                                                \
    {                                                                                              \
        READS_STRING(a);                                                                           \
        READS_STRING(b);                                                                           \
        return (type)name(a, b);                                                                   \
    }

READS_TWO(int, strcasecmp)
READS_TWO(char *, strstr)
READS_TWO(size_t, strspn)
READS_TWO(size_t, strcspn)
READS_TWO(char *, strpbrk)

WRAPS(char *, strchr, const char *text, int value)
{
    READS_STRING(text);
    return (char *)(uintptr_t)strchr(text, value);
}

WRAPS(char *, strrchr, const char *text, int value)
{
    READS_STRING(text);
    return (char *)(uintptr_t)strrchr(text, value);
}

WRAPS(char *, strdup, const char *text)
{
    READS_STRING(text);
    return strdup(text);
}

WRAPS(char *, strtok_r, char *text, const char *of, char **state)
{
    char *const from = text ? text : *state;
    READS_STRING(of);
    WRITES(from, strlen(from) + 1);
    return strtok_r(text, of, state);
}

WRAPS(int, atoi, const char *text)
{
    READS_STRING(text);
    return atoi(text);
}

WRAPS(long, atol, const char *text)
{
    READS_STRING(text);
    return atol(text);
}

WRAPS(double, atof, const char *text)
{
    READS_STRING(text);
    return atof(text);
}

#define READS_NUMBER(type, name, function)                                                         \
    WRAPS(type, name, const char *text, char **end, int base)                                      \
    {                                                                                              \
        READS_STRING(text);                                                                        \
        return function(text, end, base);                                                          \
    }

READS_NUMBER(long, strtol, strtol)
READS_NUMBER(unsigned long, strtoul, strtoul)
READS_NUMBER(long long, strtoll, strtoll)
READS_NUMBER(unsigned long long, strtoull, strtoull)
/* as the C library of 2023 names them */
READS_NUMBER(long, __isoc23_strtol, strtol)
READS_NUMBER(unsigned long, __isoc23_strtoul, strtoul)
READS_NUMBER(long long, __isoc23_strtoll, strtoll)
READS_NUMBER(unsigned long long, __isoc23_strtoull, strtoull)

WRAPS(double, strtod, const char *text, char **end)
{
    READS_STRING(text);
    return strtod(text, end);
}

WRAPS(void, qsort, void *base, size_t count, size_t size,
      int (*compare)(const void *, const void *))
{
    WRITES(base, count * size);
    qsort(base, count, size, compare);
}

WRAPS(int, puts, const char *text)
{
    READS_STRING(text);
    return puts(text);
}

WRAPS(int, fputs, const char *text, FILE *file)
{
    READS_STRING(text);
    return fputs(text, file);
}

WRAPS(size_t, fwrite, const void *from, size_t size, size_t count, FILE *file)
{
    READS(from, size * count);
    return fwrite(from, size, count, file);
}

/* ---- formats ---- */

/* A conversion of printf() or scanf(); what was not given is -1. `modifier`: h, H (hh), l, q (ll),
 * j, z, t, L, or 0. */
struct conversion {
    long width, precision;
    bool suppressed;
    char modifier, letter;
};

static char joined(char before, char now)
{
    return before == 'h' ? 'H' : before == 'l' ? 'q' : now;
}

/* Reads what is behind a `%`; the place behind it. A `*` is an argument in `rest`; where that is
 * NULL, it suppresses the conversion. */
static const char *read_conversion(const char *format, struct conversion *found, va_list *rest)
{
    long *number = &found->width;
    *found = (struct conversion){.width = -1, .precision = -1};
    for (; *format && (isdigit((unsigned char)*format) || strchr("-+ #'*.hlqjztL", *format));
         format++) {
        if (*format == '*' && !rest) {
            found->suppressed = true;
        } else if (*format == '*') {
            *number = va_arg(*rest, int);
        } else if (*format == '.') {
            number = &found->precision;
            *number = 0;
        } else if (isdigit((unsigned char)*format)) {
            *number = 10 * (*number < 0 ? 0 : *number) + (*format - '0');
        } else if (isalpha((unsigned char)*format)) {
            found->modifier = joined(found->modifier, *format);
        }
    }
    found->letter = *format;
    return *format ? format + 1 : format;
}

static size_t size_of_number(const struct conversion *conversion)
{
    switch (conversion->modifier) {
    case 'H':
        return sizeof(char);
    case 'h':
        return sizeof(short);
    case 0:
        return sizeof(int);
    default:
        return conversion->modifier == 'j' ? sizeof(intmax_t) : sizeof(long);
    }
}

_Static_assert(sizeof(long) == sizeof(long long) && sizeof(long) == sizeof(size_t), "of q, z, t");

/* What printf() accesses through the argument of a conversion. */
static void print_argument(const struct conversion *conversion, va_list *rest, const void *caller)
{
    const long most = conversion->precision;
    const bool wide = conversion->modifier != 0 && size_of_number(conversion) > sizeof(int);
    if (strchr("diouxXc", conversion->letter)) {
        wide ? (void)va_arg(*rest, long) : (void)va_arg(*rest, int);
    } else if (strchr("aAeEfFgG", conversion->letter)) {
        conversion->modifier == 'L' ? (void)va_arg(*rest, long double)
                                    : (void)va_arg(*rest, double);
    } else if (conversion->letter == 's') {
        const char *text = va_arg(*rest, const char *);
        if (text && conversion->modifier == 0) {
            accesses_range(text, most < 0 ? strlen(text) + 1 : part_of(text, (size_t)most), false,
                           caller);
        }
    } else if (conversion->letter == 'n') {
        accesses_range(va_arg(*rest, void *), size_of_number(conversion), true, caller);
    } else if (conversion->letter == 'p') {
        (void)va_arg(*rest, void *);
    }
}

static void print_reads(const char *format, va_list rest, const void *caller)
{
    va_list arguments;
    va_copy(arguments, rest);
    accesses_range(format, strlen(format) + 1, false, caller);
    while ((format = strchr(format, '%'))) {
        struct conversion conversion;
        format = read_conversion(format + 1, &conversion, &arguments);
        if (conversion.letter != '%' && conversion.letter != 0) {
            print_argument(&conversion, &arguments, caller);
        }
    }
    va_end(arguments);
}

static int print_to(char *to, size_t most, const char *format, va_list rest, const void *caller)
{
    va_list arguments;
    if (format == NULL) {
        __builtin_trap(); /* as in the C library */
    }
    print_reads(format, rest, caller);
    va_copy(arguments, rest);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && most > 0) {
        accesses_range(to, (size_t)length < most ? (size_t)length + 1 : most, true, caller);
    }
    return vsnprintf(to, most, format, rest);
}

WRAPS(int, vsnprintf, char *to, size_t most, const char *format, va_list rest)
{
    return print_to(to, most, format, rest, FROM);
}

WRAPS(int, vsprintf, char *to, const char *format, va_list rest)
{
    return print_to(to, INT32_MAX, format, rest, FROM);
}

WRAPS(int, vfprintf, FILE *file, const char *format, va_list rest)
{
    print_reads(format, rest, FROM);
    return vfprintf(file, format, rest);
}

WRAPS(int, vprintf, const char *format, va_list rest)
{
    print_reads(format, rest, FROM);
    return vprintf(format, rest);
}

/* A function of any number of arguments is the one of a list of them. */
#define WITH_LIST(last, call)                                                                      \
    va_list rest;                                                                                  \
    va_start(rest, last);                                                                          \
    const int result = call;                                                                       \
    va_end(rest);                                                                                  \
    return result

WRAPS(int, snprintf, char *to, size_t most, const char *format, ...)
{
    WITH_LIST(format, print_to(to, most, format, rest, FROM));
}

WRAPS(int, sprintf, char *to, const char *format, ...)
{
    WITH_LIST(format, print_to(to, INT32_MAX, format, rest, FROM));
}

WRAPS(int, printf, const char *format, ...)
{
    WITH_LIST(format, (print_reads(format, rest, FROM), vprintf(format, rest)));
}

WRAPS(int, fprintf, FILE *file, const char *format, ...)
{
    WITH_LIST(format, (print_reads(format, rest, FROM), vfprintf(file, format, rest)));
}

/* The place behind a set of characters in brackets. */
static const char *behind_set(const char *format)
{
    format += *format == '^';
    format += *format == ']';
    const char *end = strchr(format, ']');
    return end ? end + 1 : format + strlen(format);
}

/* What scanf() writes through the argument of a conversion, of a text of this length. */
static size_t size_of_scanned(const struct conversion *conversion, size_t length)
{
    const bool given = conversion->width >= 0;
    switch (conversion->letter) {
    case 'c':
        return given ? (size_t)conversion->width : 1;
    case 's':
    case '[':
        return 1 +
               (given && (size_t)conversion->width < length ? (size_t)conversion->width : length);
    case 'p':
        return sizeof(void *);
    default:
        break;
    }
    if (strchr("aAeEfFgG", conversion->letter)) {
        return conversion->modifier == 'L'   ? sizeof(long double)
               : conversion->modifier == 'l' ? sizeof(double)
                                             : sizeof(float);
    }
    return size_of_number(conversion);
}

static int scan(const char *text, const char *format, va_list rest, const void *caller)
{
    const size_t length = strlen(text);
    const char *const whole = format;
    va_list arguments;
    va_copy(arguments, rest);
    accesses_range(text, length + 1, false, caller);
    while ((format = strchr(format, '%'))) {
        struct conversion conversion;
        format = read_conversion(format + 1, &conversion, NULL);
        format = conversion.letter == '[' ? behind_set(format) : format;
        if (conversion.letter != '%' && conversion.letter != 0 && !conversion.suppressed) {
            accesses_range(va_arg(arguments, void *), size_of_scanned(&conversion, length), true,
                           caller);
        }
    }
    va_end(arguments);
    return vsscanf(text, whole, rest);
}

WRAPS(int, __isoc99_sscanf, const char *text, const char *format, ...)
{
    WITH_LIST(format, scan(text, format, rest, FROM));
}

WRAPS(int, __isoc23_sscanf, const char *text, const char *format, ...)
{
    WITH_LIST(format, scan(text, format, rest, FROM));
}

WRAPS(int, sscanf, const char *text, const char *format, ...)
{
    WITH_LIST(format, scan(text, format, rest, FROM));
}
