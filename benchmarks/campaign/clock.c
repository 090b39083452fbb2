/* The clock of the day, by so many seconds as the file $CLOCK_STEP says: preloaded, it steps a program's clock.

   Nothing else is changed: no sleep, no time limit and no monotonic clock, as on a machine whose clock is set. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static int (*true_clock)(clockid_t, struct timespec *);
static volatile const long *step;

__attribute__((constructor)) static void prepare(void) {
    const char *path = getenv("CLOCK_STEP");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    true_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        step = mapped;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!true_clock)
        prepare();
    int result = true_clock(clock, now);
    if (!result && clock == CLOCK_REALTIME && step)
        now->tv_sec += *step;
    return result;
}
