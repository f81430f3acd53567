/* SPDX-License-Identifier: BSD-3-Clause */
/* defaults.c -- what the grid needs of the stock components, and why. */
#include "defaults.h"
#include "overlay/base/ports.h"
#include <assert.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

unsigned defaults_list(struct default_value *out, bool only_loopback)
{
    static const struct default_value fixed[] = {
        /* Peers are started by their daemons. Naming the component keeps plm/rsh from looking for
         * ssh, whose absence would end mpirun. */
        {"plm", "p2p"},
        /* Every orted talks to mpirun only: desktops vanish, so none may carry another's messages.
         * The radix must not be below the number of orteds. */
        {"routed", "radix"},
        {"routed_radix", "4096"},
        /* Node names plainly, one after the other: peers have any name. */
        {"regx", "naive"},
        /* Guests may connect to the ports of ranks: see ports.h. */
        {"btl_tcp_port_min_v4", "32768"},
        {"btl_tcp_port_range_v4", "28231"},
        {"btl_tcp_port_min_v6", "32768"},
        {"btl_tcp_port_range_v6", "28231"},
        /* For the owner's sake a waiting rank gives the core away. */
        {"mpi_yield_when_idle", "1"},
    };
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        out[count++] = fixed[i];
    if (only_loopback)
        out[count++] = (struct default_value){"btl_tcp_if_include", "lo"};
    assert(count <= DEFAULTS_MOST);
    return count;
}

bool defaults_only_loopback(void)
{
    struct ifaddrs *all = NULL;
    bool only = true;
    if (getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next) {
        const bool ip = a->ifa_addr != NULL &&
                        (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6);
        if (ip && (a->ifa_flags & IFF_UP) != 0 && (a->ifa_flags & IFF_LOOPBACK) == 0)
            only = false;
    }
    freeifaddrs(all);
    return only;
}

/* mpirun's own; a room gives its orted another. */
static void set_control_port(void)
{
    char text[8];
    int claim; /* stays open as long as mpirun runs */
    snprintf(text, sizeof text, "%u", ports_pick(&claim));
    if (strcmp(text, "0") != 0) {
        setenv("OMPI_MCA_oob_tcp_dynamic_ipv4_ports", text, 0);
        setenv("OMPI_MCA_oob_tcp_dynamic_ipv6_ports", text, 0);
    }
}

void defaults_set(void)
{
    struct default_value list[DEFAULTS_MOST];
    const unsigned count = defaults_list(list, defaults_only_loopback());
    for (unsigned i = 0; i < count; i++) {
        char name[128];
        snprintf(name, sizeof name, "OMPI_MCA_%s", list[i].name);
        setenv(name, list[i].value, 0);
    }
    setenv(DEFAULTS_PMIX_STORE, "hash", 0);
    set_control_port();
}
