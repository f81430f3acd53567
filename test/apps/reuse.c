/* SPDX-License-Identifier: BSD-3-Clause */
/* reuse.c -- posts a receive for an answer into the buffer from which it still sends its question,
 * in many ways. How much it sends is said there, too, so an answer that comes early is noticed.
 *
 *     reuse future | sent | held LANE
 *
 * future: in the lane rank 1, who answers, is dead, and rank 0 is late: the other lane's rank 1 has
 * answered before the lane's rank 0 has asked. So with what is put into windows. sent: rank 0 dies
 * in the lane instead, before it has asked; its question comes from the other lane, which has its
 * answer. held: it dies there, too, and in the other lane it changes what it has sent as soon as
 * that is said to be done, long before the dead one's lane gets it. Four ranks, two lanes. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ASKER, ANSWERER, RELAY, RANKS = 4 };
enum { SMALL = 100, LARGE = 30000, LATE_MS = 60 };

static int rank, other, buffer[LARGE], asked;

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "reuse: rank %d: %s (question %d)\n", rank, what, asked);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The first number says how many there are. */
static void put_question(int size)
{
    buffer[0] = size - asked % 7;
    for (int i = 1; i < size; i++)
        buffer[i] = asked * 1000 + i;
}

static void check_question(int size, int got)
{
    int good = buffer[0] == size - asked % 7 && got == buffer[0];
    for (int i = 1; good && i < got; i++)
        good = buffer[i] == asked * 1000 + i;
    check(good, "this is not what was asked");
}

static void put_answer(int size)
{
    for (int i = 0; i < size; i++)
        buffer[i] = i % 50 + 1;
}

static void check_answer(int size, int stride)
{
    int good = 1;
    for (int i = 0; good && i < size; i += stride)
        good = buffer[i] == i / stride % 50 + 1;
    check(good, "this is not the answer");
}

static void late(void)
{
    if (other)
        usleep(LATE_MS * 1000);
}

static void receive_question(int size, int from)
{
    MPI_Status status;
    int got;
    MPI_Recv(buffer, size, MPI_INT, from, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &got);
    check_question(size, got);
}

/* How the asker receives; and then how it waits. */
enum how { IRECV, PERSISTENT, VECTOR, SENDRECV, BROADCAST, HOWS };
enum wait { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTSOME, TESTALL, STATUS, WAITS };

static void await_request(enum wait wait, MPI_Request *r)
{
    MPI_Request two[2] = {MPI_REQUEST_NULL, *r};
    int flag = 0, index, indices[2];
    switch (wait) {
    case WAIT:
    case WAITS:
        MPI_Wait(r, MPI_STATUS_IGNORE);
        return;
    case WAITALL:
        MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
        break;
    case WAITANY:
        MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
        break;
    case WAITSOME:
        MPI_Waitsome(2, two, &flag, indices, MPI_STATUSES_IGNORE);
        break;
    case TEST:
        while (!flag)
            MPI_Test(&two[1], &flag, MPI_STATUS_IGNORE);
        break;
    case TESTSOME:
        while (flag == 0)
            MPI_Testsome(2, two, &flag, indices, MPI_STATUSES_IGNORE);
        break;
    case TESTALL:
        while (!flag)
            MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE);
        break;
    case STATUS:
        while (!flag)
            MPI_Request_get_status(two[1], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&two[1], MPI_STATUS_IGNORE);
        break;
    }
    *r = two[1];
}

static void ask(enum how how, enum wait wait, int size, int by)
{
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Datatype half;
    MPI_Type_vector(size / 2, 1, 2, MPI_INT, &half);
    MPI_Type_commit(&half);
    put_question(size);
    if (how == IRECV)
        MPI_Irecv(buffer, size, MPI_INT, ANSWERER, 2, MPI_COMM_WORLD, &r);
    else if (how == PERSISTENT)
        MPI_Recv_init(buffer, size, MPI_INT, ANSWERER, 2, MPI_COMM_WORLD, &r);
    else if (how == VECTOR)
        MPI_Irecv(buffer, 1, half, ANSWERER, 2, MPI_COMM_WORLD, &r);
    else if (how == BROADCAST)
        MPI_Ibcast(buffer, size, MPI_INT, ANSWERER, MPI_COMM_WORLD, &r);
    if (how == PERSISTENT)
        MPI_Start(&r);
    late();
    check(buffer[0] > 0 && buffer[0] <= size && buffer[1] == asked * 1000 + 1,
          "the answer is there before the question was asked");
    if (how == SENDRECV) {
        MPI_Sendrecv(buffer, buffer[0], MPI_INT, by, 1, buffer, size, MPI_INT, ANSWERER, 2,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(buffer, buffer[0], MPI_INT, by, 1, MPI_COMM_WORLD);
        await_request(wait, &r);
    }
    if (how == PERSISTENT)
        MPI_Request_free(&r);
    MPI_Type_free(&half);
    check_answer(size, how == VECTOR ? 2 : 1);
}

static void join_broadcast(int size)
{
    MPI_Request r;
    MPI_Ibcast(buffer, size, MPI_INT, ANSWERER, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void answer(enum how how, int size, int from)
{
    receive_question(size, from);
    put_answer(size);
    if (how == BROADCAST)
        join_broadcast(size);
    else
        MPI_Send(buffer, how == VECTOR ? size / 2 : size, MPI_INT, ASKER, 2, MPI_COMM_WORLD);
}

static void pass_on(int size)
{
    receive_question(size, ASKER);
    MPI_Send(buffer, buffer[0], MPI_INT, ANSWERER, 1, MPI_COMM_WORLD);
}

static void question(enum how how, enum wait wait, int size, int by)
{
    asked++;
    if (rank == ASKER)
        ask(how, wait, size, by);
    else if (rank == by && by != ANSWERER)
        pass_on(size);
    if (rank == ANSWERER)
        answer(how, size, by == ANSWERER ? ASKER : by);
    else if (rank != ASKER && how == BROADCAST)
        join_broadcast(size);
}

/* A nonblocking collective goes on while a program waits for something else, and what others send
 * goes though its receive is not waited for. */
static void keep_going(void)
{
    MPI_Request r;
    MPI_Ibarrier(MPI_COMM_WORLD, &r);
    if (rank == ASKER)
        MPI_Recv(buffer, 1, MPI_INT, RELAY, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank == RELAY)
        MPI_Send(buffer, 1, MPI_INT, ASKER, 3, MPI_COMM_WORLD);
    if (rank == ASKER) {
        MPI_Irecv(buffer, LARGE, MPI_INT, ANSWERER, 4, MPI_COMM_WORLD, &r);
        MPI_Recv(&asked, 1, MPI_INT, ANSWERER, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else if (rank == ANSWERER) {
        MPI_Send(buffer, LARGE, MPI_INT, ASKER, 4, MPI_COMM_WORLD);
        MPI_Send(&asked, 1, MPI_INT, ASKER, 5, MPI_COMM_WORLD);
    }
}

/* Open MPI looks itself whether its messages are there, some of them with the program's tag. */
static void make_communicators(void)
{
    static const int members[] = {ASKER, RELAY, 3};
    MPI_Group world, some;
    MPI_Comm c;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, members, &some);
    if (rank != ANSWERER) {
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 6, &c);
        MPI_Barrier(c);
        MPI_Comm_free(&c);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_free(&c);
    MPI_Group_free(&some);
    MPI_Group_free(&world);
}

/* What is in a window is looked at before it is opened again; and all of it is there. */
static void fences(void)
{
    static int memory[LARGE], part[LARGE];
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 1; i <= 20; i++) {
        MPI_Win_fence(0, window);
        for (int k = 0; k < LARGE; k++)
            part[k] = i;
        if (rank == ANSWERER)
            MPI_Put(part, LARGE, MPI_INT, ASKER, 0, LARGE, MPI_INT, window);
        MPI_Win_fence(0, window);
        if (i % 4 == 0)
            late();
        for (int k = 0; k < LARGE; k++)
            check(rank != ASKER || memory[k] == i, "this was not put at the last fence");
    }
    MPI_Win_free(&window);
}

static void posts(void)
{
    static const int asker = ASKER, answerer = ANSWERER;
    int memory = 0;
    MPI_Group world, one;
    MPI_Win window;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Group_incl(world, 1, rank == ASKER ? &answerer : &asker, &one);
    for (int i = 1; i <= 5; i++) {
        if (rank == ANSWERER) {
            MPI_Win_start(one, 0, window);
            MPI_Put(&i, 1, MPI_INT, ASKER, 0, 1, MPI_INT, window);
            MPI_Win_complete(window);
        } else if (rank == ASKER) {
            MPI_Win_post(one, 0, window);
            MPI_Win_wait(window);
        }
        late();
        check(rank != ASKER || memory == i, "what was put for another post is in the window");
    }
    MPI_Win_free(&window);
    MPI_Group_free(&one);
    MPI_Group_free(&world);
}

/* Under a lock only messages say whose turn it is: the asker resets its window and looks at it, the
 * answerer writes there, and then the asker looks again. */
static void locks(void)
{
    static int memory[LARGE], part[LARGE];
    MPI_Win window;
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_lock_all(0, window);
    for (int i = 1; i <= 20; i++) {
        const int size = i % 2 ? LARGE : 1;
        for (int k = 0; k < LARGE; k++) {
            memory[k] = 0;
            part[k] = i;
        }
        MPI_Win_sync(window);
        if (i % 4 < 2)
            late();
        for (int k = 0; k < LARGE; k++)
            check(memory[k] == 0, "what was put after the next barrier is in the window");
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == ANSWERER) {
            MPI_Put(part, size, MPI_INT, ASKER, 0, size, MPI_INT, window);
            MPI_Win_flush(ASKER, window);
            memset(part, 0xff, sizeof part); /* it is the program's again */
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window);
        for (int k = 0; k < size; k++)
            check(rank != ASKER || memory[k] == i, "what was flushed is not in the window");
    }
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

/* An address is another one in each lane, and so is what the answerer is told. */
static void addresses(void)
{
    MPI_Aint at = 0;
    MPI_Win window;
    int *room = calloc(2 * SMALL, sizeof *room), *memory = room + other * SMALL, part[SMALL];
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory, SMALL * sizeof *memory);
    MPI_Get_address(memory + 1, &at);
    MPI_Bcast(&at, 1, MPI_AINT, ASKER, MPI_COMM_WORLD);
    for (int i = 1; i <= 5; i++) {
        for (int k = 0; k < SMALL; k++) {
            memory[k] = 0;
            part[k] = i + k;
        }
        MPI_Win_fence(0, window);
        if (rank == ANSWERER)
            MPI_Put(part, SMALL - 1, MPI_INT, ASKER, at, SMALL - 1, MPI_INT, window);
        MPI_Win_fence(0, window);
        for (int k = 1; k < SMALL; k++)
            check(rank != ASKER || memory[k] == i + k - 1, "this was not put at that address");
    }
    MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
    free(room);
}

static void future(void)
{
    if (other && rank == ANSWERER)
        raise(SIGKILL);
    late();
    for (int size = SMALL; size <= LARGE; size += LARGE - SMALL)
        for (int i = 0; i < WAITS || i < HOWS; i++) {
            const int how = i < HOWS ? i : IRECV, wait = i < WAITS ? i : WAIT;
            question((enum how)how, (enum wait)wait, size, ANSWERER);
            question((enum how)how, (enum wait)wait, size, RELAY);
        }
    keep_going();
    make_communicators();
    fences();
    posts();
    locks();
    addresses();
}

static void sent(void)
{
    if (other && rank == ASKER) {
        usleep(500000);
        raise(SIGKILL);
    }
    for (int size = SMALL; size <= LARGE; size += LARGE - SMALL)
        question(IRECV, WAIT, size, ANSWERER);
}

/* This lane's own: what MPI and the C library tell is agreed with the other one. */
static long own_seconds(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* leads: it decides what tests say, and needs not wait for the other lane. */
static void held(int leads)
{
    enum { DIES_S = 6 };
    MPI_Request r;
    const long begin = own_seconds();
    if (other && rank == ASKER) {
        sleep(DIES_S);
        raise(SIGKILL);
    }
    for (int size = LARGE / 6; size < LARGE; size *= 3)
        for (int wait = 0; wait <= WAITS; wait++) {
            asked++;
            if (rank == ANSWERER)
                receive_question(size, ASKER);
            if (rank != ASKER)
                continue;
            put_question(size);
            MPI_Isend(buffer, buffer[0], MPI_INT, ANSWERER, 1, MPI_COMM_WORLD, &r);
            await_request((enum wait)wait, &r);
            memset(buffer, 0xff, sizeof buffer);
        }
    check(rank != ASKER || !leads || own_seconds() - begin < DIES_S - 1,
          "what it has asked for has waited for the other lane");
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    other = number != NULL && argc == 3 && atoi(number) / ranks == atoi(argv[2]);
    if (argc != 3 || ranks != RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argv[1][0] == 'f')
        future();
    else if (argv[1][0] == 'h')
        held(atoi(argv[2]) == 1);
    else
        sent();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == ASKER)
        printf("reuse: %d questions, all right\n", asked);
    MPI_Finalize();
    return 0;
}
