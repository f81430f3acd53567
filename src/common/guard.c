/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c -- an accept() of our own for the libraries that listen. */
#include "guard.h"
#include "import_hook.h"
#include "socket_user.h"
#include <dlfcn.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

/* In a guest's sandbox the kernel cannot be asked. */
static bool is_welcome(int connection)
{
    return socket_user_is(connection, geteuid()) || !socket_user_known();
}

/* The library goes on listening when it meets this error; PMIx's and Open MPI's differ. */
static int accept_if(int listening, struct sockaddr *from, socklen_t *length, int error)
{
    const int connection = accept(listening, from, length);
    if (connection < 0 || is_welcome(connection))
        return connection;
    close(connection);
    errno = error;
    return -1;
}

static int accept_pmix(int listening, struct sockaddr *from, socklen_t *length)
{
    return accept_if(listening, from, length, ECONNABORTED);
}

static int accept_control(int listening, struct sockaddr *from, socklen_t *length)
{
    return accept_if(listening, from, length, EAGAIN);
}

static int accept_none(int listening, struct sockaddr *from, socklen_t *length)
{
    const int connection = accept(listening, from, length);
    if (connection >= 0)
        close(connection);
    errno = connection >= 0 ? EAGAIN : errno;
    return -1;
}

int guard_pmix(void)
{
    /* Open MPI opens the same file a moment later. */
    if (dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NODELETE) != NULL &&
        import_hook("libpmix.so", "accept", (void (*)(void))accept_pmix) == 0)
        return 0;
    return import_hook("mca_pmix_", "accept", (void (*)(void))accept_pmix); /* built with it */
}

int guard_control(bool calls)
{
    return import_hook("mca_oob_tcp.", "accept",
                       (void (*)(void))(calls ? accept_control : accept_none));
}
