/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What code for seL4 uses of seL4's libraries beyond the API that the host kernel has: so much that
 * it can be compiled, and checked, where these libraries are not. */
#pragma once

#include <stddef.h>

/* The host kernel's header makes calls of functions that it does not have errors. */
#define error(why)
#define diagnose_if(...)
#include <sel4/sel4.h>
#undef error
#undef diagnose_if

#define CONFIG_SEL4RUNTIME_STATIC_TLS 4096
#define CAMKES_SYSCALL_CONSTRUCTOR_PRIORITY 102
#define CONFIG_LIB_SEL4_MUSLC_SYS_CONSTRUCTOR_PRIORITY 101
#define CONSTRUCTOR(priority) __attribute__((constructor(priority)))
#define ALIGN(bytes) __attribute__((aligned(bytes)))
#define SECTION(name) __attribute__((section(name)))
#define USED __attribute__((used))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define PAGE_SIZE_4K 4096
#define CAMKES_ARENA_SIZE 65536

#define seL4_X86_IOPort_In8(...) camkes_library_in(__VA_ARGS__)

typedef struct {
    seL4_Word rip, rsp, rbp, rdx, rdi, rax;
} seL4_UserContext;
enum { seL4_UnknownSyscall_FaultIP = 15, seL4_SysCall = -1, SEL4_BOOTINFO_HEADER_X86_TSC_FREQ = 5 };

typedef struct {
    seL4_Word id, len;
} seL4_BootInfoHeader;

typedef struct {
    int error;
    uint8_t result;
} seL4_X86_IOPort_In8_t;
seL4_X86_IOPort_In8_t camkes_library_in(seL4_CPtr port, uint16_t address);

typedef struct {
    int a_type;
    union {
        long a_val;
        void *a_ptr;
    } a_un;
} auxv_t;
typedef uintptr_t Elf_Addr;
typedef struct {
    unsigned p_type;
    Elf_Addr p_vaddr;
    size_t p_filesz, p_memsz, p_align;
} Elf_Phdr;
enum { PT_TLS = 7, AT_PHDR = 3, AT_PHENT = 4, AT_PHNUM = 5, AT_PAGESZ = 6 };
enum { AT_SYSINFO = 32, AT_SEL4_TCB = 69, AT_SEL4_IPC_BUFFER_PTR = 70 };
extern seL4_IPCBuffer *__sel4_ipc_buffer;
void camkes_install_syscalls(void);
void sel4muslcsys_register_stdio_write_fn(size_t (*function)(void *data, size_t count));
void __sel4runtime_load_env(int count, const char *const *arguments, const char *const *environment,
                            const auxv_t *vector);
size_t sel4runtime_get_tls_size(void);
uintptr_t sel4runtime_write_tls_image(void *memory);
void sel4runtime_set_tls_base(uintptr_t base);

/* libsel4camkes, of which pools are a part */
typedef int seL4_ObjectType;
enum { seL4_UntypedObject, seL4_TCBObject };
typedef struct {
    seL4_CPtr cap;
    size_t size;
    uintptr_t vaddr;
    int cached;
} dma_frame_t;
typedef struct {
    uintptr_t start_vaddr, end_vaddr;
    size_t frame_size, pool_size, num_frames;
    dma_frame_t **dma_frames;
} dma_pool_t;
int camkes_dma_init(void *memory, size_t size, size_t page, bool cached);
int camkes_provide(seL4_ObjectType type, seL4_CPtr slot, size_t size, unsigned rights);
