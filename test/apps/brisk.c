/* SPDX-License-Identifier: BSD-3-Clause */
/* brisk.c -- says whether what libpmix has connected to its server waits for acknowledgements
 * (Nagle's algorithm), as it does in every rank of a plain mpirun. */
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int is_to(int fd, int port)
{
    struct sockaddr_in a = {0};
    socklen_t size = sizeof a;
    return getpeername(fd, (struct sockaddr *)&a, &size) == 0 && a.sin_family == AF_INET &&
           ntohs(a.sin_port) == port;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const char *uri = getenv("PMIX_SERVER_URI41"), *colon = uri != NULL ? strrchr(uri, ':') : NULL;
    const char *word = "has no connection";
    for (int fd = 3; colon != NULL && fd < 1024; fd++) {
        int on = 0;
        socklen_t size = sizeof on;
        if (is_to(fd, atoi(colon + 1)) && getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0)
            word = on ? "sends at once" : "waits for acknowledgements";
    }
    printf("brisk: libpmix %s\n", word);
    MPI_Finalize();
    return 0;
}
