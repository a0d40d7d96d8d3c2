// The environment, as a library sees it that binds to the C library before the program. If the program itself names
// environ, that variable is in the program, and the C library's own, which such a library finds, stays empty.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "calls.h"

static char ***own; // the C library's; NULL: the program does not name it, and this is the only one

// What runs while the library is loaded gets a copy, because setenv may free what the program's variable points to.
void impi_vendor_environment(void)
{
    void *c = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (!c) return;
    own = dlsym(c, "environ");
    dlclose(c);
    if (own == &environ) own = NULL;
    if (!own || !environ) return;
    size_t n = 0;
    while (environ[n]) n++;
    char **copy = malloc((n + 1) * sizeof *copy);
    if (copy) *own = memcpy(copy, environ, (n + 1) * sizeof *copy);
}

// point sets a word that the loader has filled. The pages that it has protected afterwards end at last.
static void point(void **word, void *to, uintptr_t last)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = (uintptr_t)word & -size;
    int protected = page + size <= (last & -size);
    if (protected && mprotect((void *)page, size, PROT_READ | PROT_WRITE)) return;
    *word = to;
    if (protected) mprotect((void *)page, size, PROT_READ);
}

// rebind lets an object use the program's variable. A word that the loader has filled with the address of the C
// library's own one is a reference to it.
static int rebind(struct dl_phdr_info *o, size_t size, void *unused)
{
    uintptr_t last = 0;
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < o->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &o->dlpi_phdr[i];
        if (p->p_type == PT_DYNAMIC) d = (const ElfW(Dyn) *)(o->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_GNU_RELRO) last = o->dlpi_addr + p->p_vaddr + p->p_memsz;
    }
    const ElfW(Rela) *r = NULL;
    size_t n = 0;
    for (; d && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_RELA) r = (const ElfW(Rela) *)d->d_un.d_ptr;
        if (d->d_tag == DT_RELASZ) n = d->d_un.d_val / sizeof *r;
    }
    for (; r && n > 0; r++, n--) {
        void **word = (void **)(o->dlpi_addr + r->r_offset);
        if (ELF64_R_SYM(r->r_info) && *word == (void *)own) point(word, &environ, last);
    }
    return 0;
}

void impi_vendor_rebind(void)
{
    if (own) dl_iterate_phdr(rebind, NULL);
}
