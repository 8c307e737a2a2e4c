/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What is tried, by what it would change. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

static void report(const char *what, long result)
{
    fprintf(results, "%s %ld %d\n", what, result, result < 0 ? errno : 0);
    fflush(results);
}

#define TRY(what, call)                                                                            \
    do {                                                                                           \
        errno = 0;                                                                                 \
        report(what, (long)(call));                                                                \
    } while (0)

static void attack_contents(void)
{
    struct {
        unsigned bytes;
        int type;
        unsigned char handle[128];
    } handle = {.bytes = 128};
    int mount = 0, file = open(world.file, O_RDONLY);
    TRY("open-to-write", open(world.file, O_WRONLY));
    TRY("open-to-append", open(world.file, O_WRONLY | O_APPEND));
    TRY("open-truncated", open(world.file, O_RDONLY | O_TRUNC));
    TRY("open-to-truncate", open(world.file, O_WRONLY | O_TRUNC));
    TRY("open-unnamed", open(world.folder, O_TMPFILE | O_RDWR, 0600));
    TRY("truncate", truncate(world.file, 0));
    TRY("ftruncate", ftruncate(file, 0));
    TRY("fallocate", fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 1 << 20));
    TRY("unlink", unlink(world.file));
    TRY("rmdir", rmdir(world.folder));
    TRY("rename-away", rename(world.file, "taken"));
    TRY("link-away", link(world.file, "linked"));
    TRY("link-open", linkat(file, "", AT_FDCWD, "linked", 0x1000 /* AT_EMPTY_PATH */));
    char beside[4096];
    snprintf(beside, sizeof beside, "%s/beside", world.folder);
    TRY("create", open(beside, O_CREAT | O_WRONLY, 0600));
    TRY("mkdir", mkdir(beside, 0700));
    TRY("symlink", symlink("x", beside));
    TRY("mkfifo", mkfifo(beside, 0600));
    TRY("rename-exchange", syscall(SYS_renameat2, AT_FDCWD, world.file, AT_FDCWD, "results", 2));
    TRY("name_to_handle_at",
        syscall(SYS_name_to_handle_at, AT_FDCWD, world.file, &handle, &mount, 0));
    TRY("open_by_handle_at", syscall(SYS_open_by_handle_at, AT_FDCWD, &handle, O_RDWR));
    TRY("input-to-write", open("/proc/self/fd/0", O_WRONLY));
    char through[64];
    snprintf(through, sizeof through, "/proc/self/fd/%d", file);
    TRY("reopen-to-write", open(through, O_RDWR));
    TRY("map-to-write", mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, file, 0) == MAP_FAILED ? -1 : 0);
    TRY("quotactl", syscall(SYS_quotactl, 0x800001, "/", 0, NULL));
}

static void attack_attributes(void)
{
    struct timespec past[2] = {{1, 0}, {1, 0}};
    int file = open(world.file, O_RDONLY);
    TRY("chmod", chmod(world.file, 0777));
    TRY("fchmod", fchmod(file, 0777));
    TRY("chown", chown(world.file, 1, 1));
    TRY("fchown", fchown(file, 1, 1));
    TRY("utimensat", utimensat(AT_FDCWD, world.file, past, 0));
    TRY("futimens", futimens(file, past));
    TRY("setxattr", syscall(SYS_setxattr, world.file, "user.x", "1", 1, 0));
    TRY("fsetxattr", syscall(SYS_fsetxattr, file, "user.x", "1", 1, 0));
    int flags = FS_IMMUTABLE_FL | FS_NODUMP_FL | FS_NOATIME_FL;
    TRY("FS_IOC_SETFLAGS", ioctl(file, FS_IOC_SETFLAGS, &flags));
    flags = FS_NODUMP_FL;
    TRY("FS_IOC_SETFLAGS-nodump", ioctl(file, FS_IOC_SETFLAGS, &flags));
    struct fsxattr attributes = {.fsx_xflags = FS_XFLAG_NODUMP, .fsx_projid = 7};
    TRY("FS_IOC_FSSETXATTR", ioctl(file, FS_IOC_FSSETXATTR, &attributes));
    TRY("FICLONE", ioctl(file, FICLONE, file));
}

/* They are kept until the driver has looked. */
static void attack_locks(void)
{
    int file = open(world.file, O_RDONLY);
    TRY("flock", syscall(SYS_flock, file, 2 | 4));
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    TRY("F_SETLK", fcntl(file, F_SETLK, &lock));
    TRY("F_OFD_SETLK", fcntl(file, 37, &lock));
    TRY("F_SETLEASE", fcntl(file, 1024, F_RDLCK));
    TRY("F_NOTIFY", fcntl(open(world.folder, O_RDONLY), 1026, 1));
}

static void attack_devices(void)
{
    TRY("mknod-char", mknod("char", S_IFCHR | 0600, makedev(1, 1)));
    TRY("mknod-null", mknod("null", S_IFCHR | 0600, makedev(1, 3)));
    TRY("mknod-block", mknod("block", S_IFBLK | 0600, makedev(7, 0)));
    TRY("mknod-socket", mknod("socket", S_IFSOCK | 0600, 0));
    TRY("mknod-setid", mknod("setid", S_IFREG | 04755, 0));
    TRY("whiteout", syscall(SYS_renameat2, AT_FDCWD, "results", AT_FDCWD, "white", 4));
    TRY("open-setid", open("setid", O_CREAT | O_WRONLY, 06755));
    TRY("read-terminal", open(world.terminal, O_RDONLY | O_NOCTTY));
    TRY("read-own-terminal", open("/dev/tty", O_RDONLY));
    TRY("read-mouse", open("/dev/input/mice", O_RDONLY));
    TRY("read-kernel-log", open("/dev/kmsg", O_RDONLY));
    TRY("write-sysctl", open("/proc/sys/kernel/hostname", O_WRONLY));
    TRY("write-sysrq", open("/proc/sysrq-trigger", O_WRONLY));
    TRY("write-cgroup", mkdir("/sys/fs/cgroup/camkes", 0700));
}

static void attack_terminal(void)
{
    struct winsize size = {1, 1, 1, 1};
    struct termios mode;
    char sign = 'x', paste[] = {3, 0};
    tcgetattr(0, &mode);
    mode.c_lflag ^= ECHO;
    TRY("TIOCSTI", ioctl(0, TIOCSTI, &sign));
    TRY("TIOCLINUX", ioctl(0, 0x541C, paste));
    TRY("TIOCSWINSZ", ioctl(0, TIOCSWINSZ, &size));
    TRY("TCSETS", tcsetattr(0, TCSANOW, &mode));
    TRY("TIOCSETD", ioctl(0, 0x5423, &(int){2}));
    TRY("TIOCSCTTY", ioctl(0, TIOCSCTTY, 1));
    TRY("vhangup", syscall(SYS_vhangup));
}

static void attack_processes(void)
{
    struct rlimit limit = {1, 1};
    struct sched_param parameter = {0};
    struct iovec here = {&limit, 1}, there = {&limit, 1};
    unsigned long mask = 1;
    siginfo_t info = {.si_code = -1};
    pid_t victim = world.process;
    char path[64];
    TRY("kill", kill(victim, SIGKILL));
    TRY("kill-group", kill(-victim, SIGKILL));
    TRY("tkill", syscall(SYS_tkill, victim, SIGKILL));
    TRY("tgkill", syscall(SYS_tgkill, victim, victim, SIGKILL));
    TRY("rt_sigqueueinfo", syscall(SYS_rt_sigqueueinfo, victim, SIGTERM, &info));
    TRY("rt_tgsigqueueinfo", syscall(SYS_rt_tgsigqueueinfo, victim, victim, SIGTERM, &info));
    int pidfd = (int)syscall(434 /* pidfd_open */, victim, 0);
    report("pidfd_open", pidfd);
    TRY("pidfd_send_signal", syscall(424, pidfd, SIGKILL, NULL, 0));
    TRY("pidfd_getfd", syscall(438, pidfd, 0, 0));
    TRY("process_madvise", syscall(440, pidfd, &there, 1, 21, 0));
    TRY("process_mrelease", syscall(448, pidfd, 0));
    int file = open(world.file, O_RDONLY);
    TRY("F_SETOWN", fcntl(file, F_SETOWN, victim));
    TRY("F_SETSIG", fcntl(file, 10, SIGKILL));
    TRY("prlimit", syscall(SYS_prlimit64, victim, RLIMIT_NOFILE, &limit, NULL));
    TRY("setpriority", setpriority(PRIO_PROCESS, (id_t)victim, 19));
    TRY("setpriority-user", setpriority(PRIO_USER, 0, 19));
    TRY("ioprio_set", syscall(SYS_ioprio_set, 1, victim, 3 << 13));
    TRY("sched_setscheduler", sched_setscheduler(victim, 3, &parameter));
    TRY("sched_setparam", sched_setparam(victim, &parameter));
    TRY("sched_setaffinity", syscall(SYS_sched_setaffinity, victim, sizeof mask, &mask));
    uint32_t attributes[14] = {48, 3, 0, 0, 19};
    TRY("sched_setattr", syscall(SYS_sched_setattr, victim, attributes, 0));
    TRY("migrate_pages", syscall(SYS_migrate_pages, victim, 8, &mask, &mask));
    TRY("move_pages", syscall(SYS_move_pages, victim, 0, NULL, NULL, NULL, 0));
    TRY("ptrace-attach", ptrace(PTRACE_ATTACH, victim, NULL, NULL));
    TRY("ptrace-seize", ptrace((enum __ptrace_request)0x4206, victim, NULL, NULL));
    TRY("process_vm_readv", syscall(SYS_process_vm_readv, victim, &here, 1, &there, 1, 0));
    TRY("process_vm_writev", syscall(SYS_process_vm_writev, victim, &here, 1, &there, 1, 0));
    TRY("kcmp", syscall(SYS_kcmp, getpid(), victim, 2, 0, 0));
    TRY("get_robust_list", syscall(SYS_get_robust_list, victim, &mask, &mask));
    static const char *const FILES[] = {"mem",     "oom_score_adj", "comm",    "timerslack_ns",
                                        "environ", "fd/0",          "root/etc"};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        snprintf(path, sizeof path, "/proc/%d/%s", victim, FILES[i]);
        TRY(FILES[i], open(path, i < 4 ? O_WRONLY : O_RDONLY));
    }
    TRY("setpgid-out", setpgid(0, getpgid(victim)));
    TRY("setsid", setsid());
    TRY("PR_SET_CHILD_SUBREAPER", prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0));
    TRY("PR_SET_PTRACER", prctl(0x59616d61, -1, 0, 0, 0));
}

static void attack_ipc(void)
{
    struct {
        long type;
        char text[8];
    } message = {1, "forged"};
    struct {
        unsigned short number;
        short change, flags;
    } change = {0, 1, 04000};
    void *segment = (void *)syscall(SYS_shmat, world.segment, NULL, 0);
    report("shmat", (long)segment == -1 ? -1 : 0);
    if ((long)segment != -1) {
        strcpy(segment, "forged");
    }
    TRY("shmget", syscall(SYS_shmget, 0, 4096, 01600));
    TRY("shmctl", syscall(SYS_shmctl, world.segment, 0, NULL));
    TRY("msgget", syscall(SYS_msgget, 0, 01600));
    TRY("msgrcv", syscall(SYS_msgrcv, world.queue, &message, 8, 0, 04000));
    TRY("msgsnd", syscall(SYS_msgsnd, world.queue, &message, 8, 04000));
    TRY("msgctl", syscall(SYS_msgctl, world.queue, 0, NULL));
    TRY("semget", syscall(SYS_semget, 0, 1, 01600));
    TRY("semop", syscall(SYS_semop, world.semaphore, &change, 1));
    TRY("semtimedop", syscall(SYS_semtimedop, world.semaphore, &change, 1, NULL));
    TRY("semctl", syscall(SYS_semctl, world.semaphore, 0, 0, 0));
    TRY("mq_open", syscall(SYS_mq_open, world.posix_queue, O_RDWR, 0, NULL));
    TRY("mq_open-new", syscall(SYS_mq_open, "camkes-attack", O_RDWR | O_CREAT, 0600, NULL));
    TRY("mq_unlink", syscall(SYS_mq_unlink, world.posix_queue));
    TRY("shm_open", open("/dev/shm/camkes-attack", O_CREAT | O_RDWR, 0600));
    TRY("memfd_create", syscall(SYS_memfd_create, "x", 0));
    TRY("memfd_secret", syscall(447, 0));
    TRY("add_key", syscall(SYS_add_key, "user", "camkes-attack", "x", 1, -4 /* of the user */));
    TRY("keyctl", syscall(SYS_keyctl, 7 /* clear */, -4));
    TRY("request_key", syscall(SYS_request_key, "user", "camkes-attack", NULL, -4));
    TRY("inotify_init1", syscall(SYS_inotify_init1, 0));
    TRY("fanotify_init", syscall(SYS_fanotify_init, 0, 0));
}

static void attack_sockets(void)
{
    struct sockaddr_un there = {.sun_family = AF_UNIX};
    strncpy(there.sun_path, world.socket, sizeof there.sun_path - 1);
    for (int family = 0; family < 46; family++) {
        for (int type = 1; type <= 5; type++) {
            int ends[2] = {-1, -1};
            char what[32];
            snprintf(what, sizeof what, "socket-%d-%d", family, type);
            TRY(what, ends[0] = socket(family, type, 0));
            sendto(ends[0], "forged", 6, 0, (struct sockaddr *)&there, sizeof there);
            close(ends[0]);
            snprintf(what, sizeof what, "socketpair-%d-%d", family, type);
            TRY(what, socketpair(family, type, 0, ends));
            if (sendto(ends[0], "forged", 6, 0, (struct sockaddr *)&there, sizeof there) >= 0) {
                report("sendto", 0);
            }
            connect(ends[0], (struct sockaddr *)&there, sizeof there);
            bind(ends[1], (struct sockaddr *)&there, sizeof there.sun_family);
            close(ends[0]);
            close(ends[1]);
        }
    }
}

static void attack_machine(void)
{
    struct timex adjustment = {.modes = ADJ_TICK, .tick = 10001};
    struct timeval now = {1, 0};
    struct timespec then = {1, 0};
    struct rlimit more = {RLIM_INFINITY, RLIM_INFINITY};
    struct {
        uint32_t version;
        int pid;
    } header = {0x20080522, 0};
    uint32_t all[6] = {~0U, ~0U, ~0U, ~0U, ~0U, ~0U};
    TRY("sethostname", syscall(SYS_sethostname, "attacked", 8));
    TRY("setdomainname", syscall(SYS_setdomainname, "attacked", 8));
    TRY("adjtimex", syscall(SYS_adjtimex, &adjustment));
    TRY("clock_adjtime", syscall(SYS_clock_adjtime, 0, &adjustment));
    TRY("settimeofday", syscall(SYS_settimeofday, &now, NULL));
    TRY("clock_settime", syscall(SYS_clock_settime, 0, &then));
    TRY("reboot", syscall(SYS_reboot, 0xfee1dead, 672274793, 0 /* Ctrl-Alt-Del off */, NULL));
    TRY("syslog", syscall(SYS_syslog, 8, NULL, 8));
    TRY("acct", syscall(SYS_acct, "results"));
    TRY("swapon", syscall(SYS_swapon, "results", 0));
    TRY("swapoff", syscall(SYS_swapoff, "results"));
    TRY("sync", syscall(SYS_sync));
    TRY("clone3", syscall(435, NULL, 0));
    TRY("io_uring_setup", syscall(425, 1, all));
    TRY("bpf", syscall(SYS_bpf, 0, all, sizeof all));
    TRY("perf_event_open", syscall(SYS_perf_event_open, all, 0, -1, -1, 0));
    TRY("userfaultfd", syscall(SYS_userfaultfd, 1));
    TRY("init_module", syscall(SYS_init_module, all, 4, ""));
    TRY("delete_module", syscall(SYS_delete_module, "x", 0));
    TRY("kexec_load", syscall(SYS_kexec_load, 0, 0, NULL, 0));
    TRY("personality", syscall(SYS_personality, 0x0040000));
    TRY("capset", syscall(SYS_capset, &header, all));
    TRY("setuid", syscall(SYS_setuid, 0));
    TRY("setgid", syscall(SYS_setgid, 0));
    TRY("setgroups", syscall(SYS_setgroups, 0, NULL));
    TRY("setrlimit", setrlimit(RLIMIT_NPROC, &more));
#ifdef SYS_iopl
    TRY("iopl", syscall(SYS_iopl, 3));
    TRY("ioperm", syscall(SYS_ioperm, 0x80, 1, 1));
    TRY("modify_ldt", syscall(SYS_modify_ldt, 0, all, 4));
#endif
}

static void attack_namespaces(void)
{
    TRY("mount", syscall(SYS_mount, "none", ".", "tmpfs", 0, NULL));
    TRY("umount2", syscall(SYS_umount2, "/tmp", 0));
    TRY("chroot", syscall(SYS_chroot, "."));
    TRY("pivot_root", syscall(SYS_pivot_root, ".", "."));
    TRY("unshare-user", unshare(CLONE_NEWUSER));
    TRY("unshare-ipc", unshare(CLONE_NEWIPC));
    TRY("setns", syscall(SYS_setns, open("/proc/1/ns/mnt", O_RDONLY), 0));
    static const unsigned long SPACES[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWNET,
                                           CLONE_PARENT,  CLONE_PTRACE, 0x1000 /* CLONE_PIDFD */};
    for (size_t i = 0; i < sizeof SPACES / sizeof *SPACES; i++) {
        errno = 0;
        long child = syscall(SYS_clone, SPACES[i] | SIGCHLD, 0, &i, 0, 0);
        if (child == 0) {
            _exit(0);
        }
        report("clone", child);
    }
}

void try_named(void)
{
    attack_devices();
    attack_terminal();
    attack_processes();
    attack_ipc();
    attack_sockets();
    attack_machine();
    attack_namespaces();
    attack_contents();
    attack_attributes();
    attack_locks();
}
