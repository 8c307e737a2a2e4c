/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What the process of a component can do to the workstation: compute, use its memory, print. A
 * filter of system calls (filter.c) allows what the C library needs for that, Landlock the reading
 * of shared libraries while the image is loaded, and resource limits hold where a workstation has
 * neither. A call that is not allowed becomes a fault (signals.c). With the sanitizers, which open
 * files, and start programs, nothing is confined.
 */
#include "isolation/filter.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILE_MAPS = 3 }; /* the descriptor of /proc/self/maps, see polling.c */

#ifndef CAMKES_SANITIZED

/* The workstation lacks something: reported once in a run, and not good enough with --hardened. */
static void lack(const char *what, const char *so)
{
    const char *why = strerror(errno);
    if (kernel->options.hardened) {
        give_up(2, "--hardened needs %s, which this workstation does not have (%s)", what, why);
    }
    if (!kernel->unconfined) {
        kernel->unconfined = true;
        complain("note: this workstation does not have %s (%s): %s", what, why, so);
    }
}

static void filter_calls(bool loading)
{
    if (!filter_install(loading)) {
        lack("filters of system calls (seccomp)", "components can use what you can use");
    }
}

/* ---- files ---- */

/* As of the sixth version of Landlock; older ones take the beginning. */
struct ruleset {
    uint64_t files, network, scopes;
};

struct __attribute__((packed)) beneath {
    uint64_t allowed;
    int32_t parent;
};

enum { READ_FILE = 1 << 2, READ_FOLDER = 1 << 3, RULE_BENEATH = 1 };
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };

static void let_read(int rules, const char *path)
{
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file >= 0) {
        struct beneath rule = {READ_FILE, file};
        syscall(ADD_RULE, rules, RULE_BENEATH, &rule, 0);
        close(file);
    }
}

/* The folder of the C library, wherever it is. */
static void let_read_library(int rules)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    if (dladdr(function, &info) && info.dli_fname) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s", info.dli_fname);
        char *slash = strrchr(folder, '/');
        if (slash) {
            *slash = 0;
            let_read(rules, folder);
        }
    }
}

/* Files: shared libraries and the images. No network, no signals to other processes. */
static void restrict_files(void)
{
    static const char *const FOLDERS[] = {"/lib",       "/lib64",         "/usr/lib",
                                          "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
                                          "/nix/store", "/gnu/store"};
    long version = syscall(CREATE_RULESET, NULL, 0, 1);
    static const char SO[] = "constructors of components can read your files";
    if (version < 1) {
        lack("Landlock", SO);
        return;
    }
    unsigned rights = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    struct ruleset all = {((uint64_t)1 << rights) - 1, 3, 3};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(CREATE_RULESET, &all, size, 0);
    if (rules < 0) {
        lack("Landlock", SO);
        return;
    }
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        let_read(rules, FOLDERS[i]);
    }
    let_read_library(rules);
    for (unsigned i = 0; i < kernel->space_count; i++) {
        if (kernel->options.fast || &kernel->spaces[i] == process.space) {
            let_read(rules, kernel->spaces[i].image);
        }
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(RESTRICT_SELF, rules, 0) != 0) {
        lack("Landlock", SO);
    }
    close(rules);
}

/* ---- limits ---- */

static void limit(int resource, rlim_t value)
{
    struct rlimit now;
    if (getrlimit(resource, &now) == 0 && value < now.rlim_max) {
        setrlimit(resource, &(struct rlimit){value, value});
    }
}

/* What an image and its libraries take beside the memory that they are given. */
static uint64_t size_of_image(const struct space *space)
{
    static const uint64_t LIBRARIES = (uint64_t)64 << 20;
    struct stat status;
    uint64_t size = LIBRARIES + (stat(space->image, &status) == 0 ? (uint64_t)status.st_size : 0);
    for (unsigned i = 0; i < space->mapping_count; i++) {
        size += space->mappings[i].region->region.size;
    }
    return size;
}

/* Bytes of addresses that this process has; 0: they cannot be read. */
static uint64_t size_of_process(void)
{
    char text[64] = "";
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0) {
        text[0] = 0;
    }
    close(file);
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Memory that can be written is limited, and addresses, or memory that is made read-only when it
 * has been written would not count. */
static void limit_memory(void)
{
    const uint64_t before = size_of_process();
    uint64_t data = 0, images = 0;
    for (unsigned i = 0; i < kernel->space_count; i++) {
        if (kernel->options.fast || &kernel->spaces[i] == process.space) {
            data += kernel->options.memory;
            images += size_of_image(&kernel->spaces[i]);
        }
    }
    if (data > 0) {
        limit(RLIMIT_DATA, data);
        if (before > 0) {
            limit(RLIMIT_AS, before + data + images);
        }
    }
}

/* The descriptors of a component are the null device and a list of its own memory. */
static void close_files(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup3(process.maps, FILE_MAPS, O_CLOEXEC);
    process.maps = FILE_MAPS;
    for (int file = 0; file < FILE_MAPS; file++) {
        dup2(null, file);
    }
    if (close_range(FILE_MAPS + 1, ~0U, 0) != 0) {
        long most = sysconf(_SC_OPEN_MAX);
        for (int file = FILE_MAPS + 1; file < most; file++) {
            close(file);
        }
    }
}

/* Root's own: it could change limits and end processes. Files are read as before. */
static void drop_capabilities(void)
{
    enum { VERSION = 0x20080522, READ_ANY_FILE = 1 << 1 | 1 << 2 }; /* see capabilities(7) */
    struct {
        uint32_t version;
        int pid;
    } header = {VERSION, 0};
    struct {
        uint32_t effective, permitted, inheritable;
    } sets[2];
    if (syscall(SYS_capget, &header, sets) != 0) {
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t kept = i == 0 ? READ_ANY_FILE : 0;
        sets[i].effective &= kept;
        sets[i].permitted &= kept;
        sets[i].inheritable = 0;
    }
    syscall(SYS_capset, &header, sets);
}

/* ---- the two steps ---- */

/* Before an image is loaded, with its constructors: shared regions are mapped, and all limits set
 * that hold from then on. */
void confine_loading(void)
{
    if (kernel->options.coverage) {
        return;
    }
    limit_memory();
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NPROC, 0);
    restrict_files();
    if (!kernel->options.fast) {
        limit(RLIMIT_FSIZE, 0);
        close_files();
        limit(RLIMIT_NOFILE, FILE_MAPS + 2); /* and one that the loader reads */
    }
    drop_capabilities();
    filter_calls(true);
}

/* Before the first thread runs. */
void confine_running(void)
{
    if (!kernel->options.coverage) {
        filter_calls(false);
    }
}

#else

void confine_loading(void)
{
    if (kernel->options.hardened) {
        give_up(2, "--hardened and the sanitizers exclude each other");
    }
}

void confine_running(void)
{
}

#endif
