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

#: Macros of the headers that `camkes.h` includes. A parameter or method of such a name does not compile.
C_MACROS = frozenset({"NULL", "true", "false", "errno", "stdin", "stdout", "stderr", "EOF"})
