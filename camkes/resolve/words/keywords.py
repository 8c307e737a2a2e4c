# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Words that C code cannot use as names, so neither can what becomes a name in C."""

from __future__ import annotations

_STANDARD = """
    _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local
    auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while
"""

#: Words that compilers reserve beyond the standard, and names they define in every function.
_EXTENSIONS = """
    asm typeof wchar_t __FUNCTION__ __PRETTY_FUNCTION__ __func__ __label__ __extension__ __int128 __fp16
    _Decimal32 _Decimal64 _Decimal128 __alignof __alignof__ __asm __asm__ __attribute __attribute__
    __complex __complex__ __const __const__ __imag __imag__ __inline __inline__ __real __real__
    __restrict __restrict__ __signed __signed__ __thread __typeof __typeof__ __volatile __volatile__
    __builtin_choose_expr __builtin_convertvector __builtin_offsetof __builtin_types_compatible_p
    __builtin_va_arg __cdecl __declspec __fastcall __module_private__ __objc_no __objc_yes __pascal
    __private_extern__ __stdcall __thiscall __unknown_anytype __vectorcall
"""

C_KEYWORDS = frozenset((_STANDARD + _EXTENSIONS).split())

_CXX = """
    alignas alignof and and_eq asm bitand bitor bool catch char16_t char32_t class compl const_cast constexpr
    decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public reinterpret_cast static_assert static_cast template
    this thread_local throw true try typeid typename using virtual xor xor_eq
"""

#: Words that are keywords of C++ up to C++17 and not of C.
CXX_KEYWORDS = frozenset(_CXX.split()) - C_KEYWORDS

_MACROS = """
    BUFSIZ EOF EXIT_FAILURE EXIT_SUCCESS FILENAME_MAX FOPEN_MAX L_tmpnam MB_CUR_MAX NULL P_tmpdir RAND_MAX
    SEEK_CUR SEEK_END SEEK_SET TMP_MAX bool errno false linux stderr stdin stdout true unix
"""

_LIBRARY = """
    FILE a64l abort abs aligned_alloc alloca at_quick_exit atexit atof atoi atol atoll bcmp bcopy blkcnt_t
    blksize_t bsearch bzero calloc clearenv clearerr clearerr_unlocked clock_t clockid_t ctermid dev_t div
    div_t dprintf drand48 ecvt erand48 exit explicit_bzero fclose fcvt fdopen feof feof_unlocked ferror
    ferror_unlocked fflush fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgets fileno
    fileno_unlocked flockfile fmemopen fopen fpos_t fprintf fputc fputc_unlocked fputs fread
    fread_unlocked free freopen fscanf fseek fseeko fsetpos ftell ftello ftrylockfile funlockfile fwrite
    fwrite_unlocked gcvt getc getc_unlocked getchar getchar_unlocked getdelim getenv getline getloadavg
    getsubopt getw gid_t id_t index initstate ino_t int16_t int32_t int64_t int8_t int_fast16_t
    int_fast32_t int_fast64_t int_fast8_t int_least16_t int_least32_t int_least64_t int_least8_t intmax_t
    intptr_t jrand48 key_t l64a labs lcong48 ldiv ldiv_t llabs lldiv lldiv_t locale_t lrand48 malloc
    max_align_t mblen mbstowcs mbtowc memccpy memchr memcmp memcpy memmove memset mkdtemp mkstemp mkstemps
    mktemp mode_t mrand48 nlink_t nrand48 off_t open_memstream pclose perror pid_t popen posix_memalign
    printf pselect ptrdiff_t putc putc_unlocked putchar putchar_unlocked putenv puts putw qsort quick_exit
    rand rand_r random realloc reallocarray realpath remove rename renameat rewind rindex scanf seed48
    select setbuf setbuffer setenv setlinebuf setstate setvbuf size_t snprintf sprintf srand srand48
    srandom sscanf ssize_t stpcpy stpncpy strcasecmp strcasecmp_l strcat strchr strcmp strcoll strcoll_l
    strcpy strcspn strdup strerror strerror_l strerror_r strlen strncasecmp strncasecmp_l strncat strncmp
    strncpy strndup strnlen strpbrk strrchr strsep strsignal strspn strstr strtod strtof strtok strtok_r
    strtol strtold strtoll strtoul strtoull strxfrm strxfrm_l suseconds_t system tempnam time_t timer_t
    tmpfile tmpnam uid_t uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t uint_fast64_t
    uint_fast8_t uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ungetc
    unsetenv valloc vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf wcstombs wctomb
"""

#: Macros of the headers that generated code includes, and those that compilers define. A parameter, an
#: attribute or a dataport of such a name does not compile.
C_MACROS = frozenset(_MACROS.split())

#: Functions and types of these headers, as far as glibc and musl both declare them.
C_LIBRARY = frozenset(_LIBRARY.split())

#: Structs that the headers declare that every `camkes.h` includes, with each C library.
C_STRUCTS = frozenset({"timespec", "timeval"})
