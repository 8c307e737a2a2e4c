/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Small programs that use the C library; what they print is the same on the host kernel and in an
 * image. */
#include <camkes.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

static void integers(void)
{
    printf("%d %i %u %x %X %o %ld %lld %zu\n", -1, INT_MIN, UINT_MAX, 255u, 255u, 8u, LONG_MAX,
           LLONG_MIN, sizeof(long));
}

static void widths(void)
{
    printf("[%5d][%-5d][%05d][%+d][% d][%.3d][%*d]\n", 42, 42, 42, 42, 42, 7, 6, 9);
}

static void texts(void)
{
    printf("[%s][%10s][%-10s][%.2s][%c]%%\n", "abc", "abc", "abc", "abc", 'z');
}

static void floats(void)
{
    printf("%f %.2f %e %g %g %G %a\n", 1.5, 2.0 / 3, 12345.678, 0.0001, 1e20, 1e-10, 1.0);
}

static void special_floats(void)
{
    volatile double zero = 0;
    printf("%f %f %d %d\n", 1 / zero, -1 / zero, isnan(zero / zero), isinf(1 / zero));
}

static void roots(void)
{
    volatile double x = 2;
    printf("%.15g %.15g %.15g %.15g\n", sqrt(x), cbrt(x), hypot(3 * x, 4 * x), pow(x, 0.5));
}

static void trigonometry(void)
{
    volatile double x = 1;
    printf("%.12g %.12g %.12g %.12g\n", sin(x), cos(x), tan(x), atan2(x, 2));
}

static void exponentials(void)
{
    volatile double x = 1.25;
    printf("%.12g %.12g %.12g %.12g\n", exp(x), log(x), log10(x), exp2(x));
}

static void rounding(void)
{
    volatile double x = -2.5;
    printf("%g %g %g %g %g %ld\n", floor(x), ceil(x), round(x), trunc(x), rint(x), lround(x));
}

static void remainders(void)
{
    volatile double x = 7.5, y = 2;
    printf("%g %g %g\n", fmod(x, y), remainder(x, y), fmod(-x, y));
}

static int up(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sorting(void)
{
    int numbers[] = {5, 3, 9, -1, 0, 7, 7, 2};
    qsort(numbers, 8, sizeof *numbers, up);
    for (int i = 0; i < 8; i++) {
        printf("%d ", numbers[i]);
    }
    const int key = 9;
    const int *found = bsearch(&key, numbers, 8, sizeof *numbers, up);
    printf("at %d\n", found ? (int)(found - numbers) : -1);
}

static void numbers_of_texts(void)
{
    char *rest;
    printf("%ld ", strtol(" -42x", &rest, 10));
    printf("%s %lu %ld %d\n", rest, strtoul("ff", NULL, 16), strtol("0x1f", NULL, 0), atoi("17"));
}

static void overflow_of_numbers(void)
{
    errno = 0;
    const long value = strtol("999999999999999999999", NULL, 10);
    printf("%d %d\n", value == LONG_MAX, errno == ERANGE);
}

static void doubles_of_texts(void)
{
    printf("%g %g %g %g\n", strtod("3.25e2", NULL), strtod("-0x1p4", NULL), strtod("inf", NULL),
           atof("1.5"));
}

static void comparing(void)
{
    printf("%d %d %d %d\n", strcmp("a", "b") < 0, strncmp("abc", "abd", 2), memcmp("x", "x", 1),
           strcmp("b", "a") > 0);
}

static void searching(void)
{
    const char *text = "one two two";
    printf("%d %d %d %d %d\n", (int)(strchr(text, 't') - text), (int)(strrchr(text, 't') - text),
           (int)(strstr(text, "wo") - text), (int)strspn(text, "eno"), (int)strcspn(text, " "));
}

static void tokens(void)
{
    char text[] = "a,b;;c";
    char *place;
    for (char *word = strtok_r(text, ",;", &place); word; word = strtok_r(NULL, ",;", &place)) {
        printf("<%s>", word);
    }
    printf("\n");
}

static void copying(void)
{
    char text[16] = "0123456789";
    memmove(text + 2, text, 5);
    memset(text + 8, '#', 2);
    printf("%s %d\n", strncpy((char[8]){0}, text, 7), (int)strlen(text));
}

static void joining(void)
{
    char text[32] = "ab";
    strcat(text, "cd");
    strncat(text, "efgh", 2);
    printf("%s %d %s\n", text, snprintf(text, sizeof text, "%d-%s", 12, "x"), text);
}

static void cutting(void)
{
    char text[6];
    const int length = snprintf(text, sizeof text, "%s", "longer than it");
    printf("%s %d\n", text, length);
}

static void scanning(void)
{
    int a = 0;
    char word[8] = "";
    double x = 0;
    const int n = sscanf("12 abc 2.5", "%d %7s %lf", &a, word, &x);
    printf("%d %d %s %g\n", n, a, word, x);
}

static void letters(void)
{
    printf("%d%d%d%d%d %c%c\n", !!isalpha('a'), !!isdigit('a'), !!isspace('\t'), !!ispunct('!'),
           !!isxdigit('f'), toupper('q'), tolower('Q'));
}

static jmp_buf back;

static void jumping(void)
{
    volatile int count = 0;
    if (setjmp(back) < 3) {
        longjmp(back, ++count);
    }
    printf("%d\n", count);
}

static int sum(int count, ...)
{
    va_list list;
    int result = 0;
    va_start(list, count);
    while (count-- > 0) {
        result += va_arg(list, int);
    }
    va_end(list);
    return result;
}

static void arguments(void)
{
    printf("%d\n", sum(4, 1, 2, 3, 4));
}

static void memory(void)
{
    int *block = calloc(100, sizeof *block);
    int total = 0;
    for (int i = 0; i < 100; i++) {
        total += block[i];
    }
    block = realloc(block, 1000 * sizeof *block);
    block[999] = 7;
    printf("%d %d %d\n", total, block[999], (int)((uintptr_t)block % alignof(max_align_t)));
    free(block);
}

static void no_memory(void)
{
    errno = 0;
    void *volatile block = malloc((size_t)2 << 20);
    printf("%d %d\n", block == NULL, errno == ENOMEM);
}

static void duplicates(void)
{
    char *copy = strdup("copy"), *part = strndup("abcdef", 3);
    printf("%s %s\n", copy, part);
    free(copy);
    free(part);
}

static void divisions(void)
{
    const div_t d = div(-7, 2);
    printf("%d %d %d %ld\n", d.quot, d.rem, abs(-3), labs(-4L));
}

static void calendar(void)
{
    struct tm tm = {.tm_year = 126, .tm_mon = 10, .tm_mday = 27, .tm_hour = 12};
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%d %H:%M", &tm);
    printf("%s %.0f\n", text, difftime(100, 40));
}

static void wide(void)
{
    wchar_t text[8];
    wcscpy(text, L"abc");
    printf("%d %d\n", (int)wcslen(text), wcscmp(text, L"abd") < 0);
}

static void exact_sizes(void)
{
    printf("%" PRIu8 " %" PRId64 " %" PRIx32 " %d %d\n", (uint8_t)200, INT64_MIN,
           UINT32_C(0xabcdef01), CHAR_BIT, DBL_DIG);
}

static void random_numbers(void)
{
    unsigned seed = 5;
    const int a = rand_r(&seed);
    srand(1);
    printf("%d %d\n", a >= 0 && a <= RAND_MAX, rand() != rand());
}

int run(void)
{
    static void (*const PROGRAMS[])(void) = {integers,
                                             widths,
                                             texts,
                                             floats,
                                             special_floats,
                                             roots,
                                             trigonometry,
                                             exponentials,
                                             rounding,
                                             remainders,
                                             sorting,
                                             numbers_of_texts,
                                             overflow_of_numbers,
                                             doubles_of_texts,
                                             comparing,
                                             searching,
                                             tokens,
                                             copying,
                                             joining,
                                             cutting,
                                             scanning,
                                             letters,
                                             jumping,
                                             arguments,
                                             memory,
                                             no_memory,
                                             duplicates,
                                             divisions,
                                             calendar,
                                             wide,
                                             exact_sizes,
                                             random_numbers};
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++) {
        printf("%2d: ", (int)i + 1);
        PROGRAMS[i]();
    }
    printf("end\n");
    return 0;
}
