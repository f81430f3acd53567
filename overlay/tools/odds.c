/* SPDX-License-Identifier: BSD-3-Clause */
/* odds.c -- how likely a job is to finish, when peers vanish at a known rate. */
#include "odds.h"
#include <math.h>

double odds_rate(double peer_hours, unsigned lost)
{
    return (lost + 0.5) / peer_hours;
}

double odds_finish(double rate, double hours, unsigned ranks, unsigned level)
{
    const double copy_lost = -expm1(-rate * hours);
    return exp(ranks * log1p(-pow(copy_lost, level)));
}
