/* SPDX-License-Identifier: BSD-3-Clause */
/* draws.c -- a program that goes by the system's random numbers and clocks, as programs do that
 * seed nothing themselves. Before MPI_Init it seeds with the time and draws, too. Rank 0 tells all
 * a number of its own, and after each round whether that is still the one they know; its copies may
 * have died meanwhile. Each rank sends as many bytes as a draw and a clock say.
 *
 *     draws ROUNDS MILLISECONDS: pauses so long after each round */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void check(int holds, const char *what)
{
    if (!holds) {
        printf("draws: rank %d: %s: wrong\n", rank, what);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Of glibc 2.36 and later; and what read() becomes when it is compiled with _FORTIFY_SOURCE. */
uint32_t arc4random(void) __attribute__((weak));
void arc4random_buf(void *out, size_t size) __attribute__((weak));
uint32_t arc4random_uniform(uint32_t bound) __attribute__((weak));
ssize_t __read_chk(int fd, void *out, size_t size, size_t room);

static uint64_t draw_by_libc(int way)
{
    uint64_t n = 0;
    if (arc4random == NULL)
        check(getrandom(&n, sizeof n, 0) == sizeof n, "getrandom");
    else if (way == 0)
        n = (uint64_t)arc4random() << 32 | arc4random();
    else if (way == 1)
        arc4random_buf(&n, sizeof n);
    else
        n = (uint64_t)arc4random_uniform(1000000007) << 32 | arc4random_uniform(1) |
            arc4random_uniform(UINT32_C(3) << 30);
    return n;
}

enum { WAYS = 11 };
static uint64_t draw(int way)
{
    uint64_t n = 0;
    int fd;
    FILE *file;
    switch (way % WAYS) {
    case 0:
        check(getrandom(&n, sizeof n, 0) == sizeof n, "getrandom");
        break;
    case 1:
        check(getentropy(&n, sizeof n) == 0, "getentropy");
        break;
    case 2:
        fd = open("/dev/urandom", O_RDONLY);
        check(fd >= 0 && read(fd, &n, sizeof n) == sizeof n && close(fd) == 0, "/dev/urandom");
        break;
    case 3:
        file = fopen("/dev/urandom", "rb");
        check(file != NULL && fread(&n, sizeof n, 1, file) == 1 && fclose(file) == 0, "a stream");
        break;
    case 4:
        check(getrandom(&n, 5, GRND_RANDOM | GRND_NONBLOCK) == 5, "getrandom of five bytes");
        break;
    case 5: /* what a descriptor was does not matter */
        fd = open("/dev/urandom", O_RDONLY);
        check(fd >= 0 && close(fd) == 0 && open("/dev/zero", O_RDONLY) == fd, "another device");
        check(read(fd, &n, sizeof n) == sizeof n && n == 0 && close(fd) == 0, "zeros");
        check(getrandom(&n, sizeof n, 0) == sizeof n, "getrandom");
        break;
    case 6:
        fd = open("/dev/urandom", O_RDONLY);
        check(fd >= 0 && __read_chk(fd, &n, sizeof n, sizeof n) == sizeof n, "a checked read");
        check(close(fd) == 0, "close");
        break;
    case 7:
    case 8:
    case 9:
        n = draw_by_libc(way % WAYS - 7);
        break;
    default:
        fd = open("/dev/random", O_RDONLY | O_CLOEXEC);
        check(fd >= 0 && read(fd, &n, 3) == 3 && read(fd, (char *)&n + 3, 5) == 5, "/dev/random");
        check(close(fd) == 0, "close");
        break;
    }
    return n;
}

static uint64_t ns_of(clockid_t clock)
{
    struct timespec t;
    check(clock_gettime(clock, &t) == 0, "a clock");
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Never less than before, also when it is another one's. */
static uint64_t look(int way)
{
    enum { CLOCKS = 7 };
    static uint64_t last[CLOCKS];
    struct timespec t;
    struct rusage used;
    uint64_t now;
    way %= CLOCKS;
    switch (way) {
    case 0:
        now = ns_of(CLOCK_MONOTONIC);
        break;
    case 1:
        now = ns_of(CLOCK_MONOTONIC_RAW);
        break;
    case 2:
        now = ns_of(CLOCK_PROCESS_CPUTIME_ID);
        break;
    case 3:
        now = (uint64_t)clock();
        break;
    case 4:
        now = (uint64_t)times(NULL);
        break;
    case 5:
        check(timespec_get(&t, TIME_UTC) == TIME_UTC, "timespec_get");
        now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
        break;
    default:
        check(getrusage(RUSAGE_SELF, &used) == 0, "getrusage");
        now = (uint64_t)(used.ru_utime.tv_sec * 1000000 + used.ru_utime.tv_usec);
        break;
    }
    const uint64_t took = last[way] != 0 ? now - last[way] : 0;
    check(now >= last[way] && took < UINT64_C(600000000000), "time goes on");
    last[way] = now;
    return took;
}

static void send_bytes(uint64_t how_many)
{
    static char to[65536], from[65536];
    MPI_Sendrecv(to, (int)(how_many % sizeof to), MPI_BYTE, (rank + 1) % size, 1, from, sizeof from,
                 MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Each copy of a rank as often as it likes, before something of which there is one outcome. */
static void look_as_it_happens(int round)
{
    int flag;
    const int times = atoi(getenv("OMPI_COMM_WORLD_RANK")) / size + round;
    struct rusage used;
    for (int i = 0; i < times % 3; i++)
        check(getrusage(RUSAGE_SELF, &used) == 0 && ns_of(CLOCK_MONOTONIC) > 0, "a look");
    MPI_Iprobe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Lanes wait for each other in these. */
static void send_much(void)
{
    enum { MUCH = 1 << 22 };
    static char to[MUCH], from[MUCH];
    for (int i = 0; i < 20; i++)
        MPI_Sendrecv(to, MUCH, MPI_BYTE, (rank + 1) % size, 2, from, MUCH, MPI_BYTE,
                     (rank + size - 1) % size, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* It is no copy of a rank: its number is not the one that its parent draws next. */
static void make_child(void)
{
    uint64_t n = 0;
    int ends[2], status = 1;
    check(pipe(ends) == 0, "a pipe");
    const pid_t child = fork();
    if (child == 0) {
        n = draw(0);
        _exit(write(ends[1], &n, sizeof n) != sizeof n);
    }
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child");
    check(read(ends[0], &n, sizeof n) == sizeof n && n != draw(0), "a child's number");
    close(ends[0]);
    close(ends[1]);
}

/* The kernel's, past whatever takes the program's calls. */
static uint64_t own_ns(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* To sleep until a moment by the clock takes as long as the clock says. */
static void tick(void)
{
    enum { TICKS = 50, TICK_NS = 1000000 };
    int in_time = 0;
    for (int i = 0; i < TICKS; i++) {
        const uint64_t begin = own_ns(), due = ns_of(CLOCK_MONOTONIC) + TICK_NS;
        const struct timespec until = {(time_t)(due / 1000000000), (long)(due % 1000000000)};
        check(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0, "a tick");
        const uint64_t took = own_ns() - begin;
        check(took >= TICK_NS, "a tick is too short");
        in_time += took < 4 * (uint64_t)TICK_NS;
    }
    check(in_time >= TICKS / 5, "ticks are too long");
}

/* As long as it takes: how often it looked. */
static uint64_t wait_by_clock(void)
{
    const uint64_t until = ns_of(CLOCK_MONOTONIC) + 50000000;
    uint64_t turns = 0;
    for (; ns_of(CLOCK_MONOTONIC) < until; turns++)
        usleep(100);
    return turns;
}

/* For a child, looking at the clock as often as it happens to. */
static void wait_as_it_happens(void)
{
    const pid_t child = fork();
    if (child == 0) {
        usleep(20000 + (useconds_t)(own_ns() % 20000));
        _exit(0);
    }
    for (int status = 0; waitpid(child, &status, WNOHANG) == 0; usleep(100))
        (void)ns_of(CLOCK_MONOTONIC);
}

int main(int argc, char **argv)
{
    uint64_t known = 0, sum = 0;
    const time_t begin = time(NULL);
    const clock_t first = times(NULL);
    srand((unsigned)begin);
    const uint64_t early = draw(0), early_too = draw(2);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(argc == 3 && early != early_too, "the beginning");
    check(time(NULL) >= begin && time(NULL) - begin < 100, "the time before MPI_Init");
    check(times(NULL) >= first && times(NULL) - first < 6000, "ticks since before MPI_Init");
    const uint64_t own = draw(1);
    known = own;
    MPI_Bcast(&known, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);

    const int by_time = rand();
    const unsigned own_seed = (unsigned)getpid() ^ (unsigned)(uintptr_t)&known;
    srand(own_seed);
    send_bytes((uint64_t)rand());
    srandom(own_seed);
    send_bytes((uint64_t)random());
    srand48(own_seed);
    send_bytes((uint64_t)lrand48());

    const int rounds = atoi(argv[1]);
    for (int round = 0; round < rounds; round++) {
        const uint64_t n = draw(round);
        sum += n;
        send_bytes(n);
        send_bytes(look(round));
        look_as_it_happens(round);
        uint64_t told = own;
        MPI_Bcast(&told, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        check(told == known, "what rank 0 said");
        usleep((useconds_t)atoi(argv[2]) * 1000);
    }
    tick();
    const uint64_t turns = wait_by_clock();
    send_bytes(turns);
    for (int i = 0; i < 3; i++)
        make_child();
    const uint64_t clock_then = ns_of(CLOCK_MONOTONIC); /* its own one from now on */
    for (int i = 0; i < 5; i++)
        wait_as_it_happens();
    send_much();
    check(ns_of(CLOCK_MONOTONIC) - clock_then < UINT64_C(60000000000), "the own clock");
    printf("draws: rank %d drew %llu %llu %d %llu in %llu turns\n", rank, (unsigned long long)early,
           (unsigned long long)early_too, by_time, (unsigned long long)sum,
           (unsigned long long)turns);
    MPI_Finalize();
    return 0;
}
