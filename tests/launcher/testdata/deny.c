/* deny CALLS PROGRAM ...: runs a program to which the kernel refuses some system calls, as the filter of a container
 * does. CALLS are memory (reading and writing that of other processes), memfd (memory without a name). */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int memory[] = {SYS_process_vm_readv, SYS_process_vm_writev, SYS_ptrace, SYS_kcmp}, memfd[] = {SYS_memfd_create};
    struct sock_filter program[16] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    int n = 1, *calls = memory, many = 4;
    if (argc < 3) return 2;
    if (!strcmp(argv[1], "memfd")) calls = memfd, many = 1;
    for (int i = 0; i < many; i++) {
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {(unsigned short)n, program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("this kernel has no filters of system calls");
        return 77;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
