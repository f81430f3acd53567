# SPDX-License-Identifier: BSD-3-Clause
# P2P_OPENMPI: the Open MPI that the components are for. Sets OMPI_CPPFLAGS, OMPI_RTE_LIBS, OMPI_MPI_LIBS,
# P2P_OMPI_VERSION and componentdir. The components are written for the internal headers of 4.1.
AC_DEFUN([P2P_OPENMPI], [
AC_PATH_PROG([OMPI_INFO], [ompi_info])
AS_IF([test -z "$OMPI_INFO"],
    [AC_MSG_ERROR([ompi_info is not in PATH; on Debian: apt-get install openmpi-bin libopenmpi-dev])])

AC_MSG_CHECKING([for the version of Open MPI])
P2P_OMPI_VERSION=`$OMPI_INFO --version | sed -n 's/^Open MPI v//p'`
AC_MSG_RESULT([$P2P_OMPI_VERSION])
AS_CASE([$P2P_OMPI_VERSION], [4.1.*], [],
    [AC_MSG_ERROR([the components are written for Open MPI 4.1, this is ${P2P_OMPI_VERSION:-unknown}])])

AC_MSG_CHECKING([for Open MPI's internal headers])
ompi_include=`$OMPI_INFO --path incdir --parsable | sed 's/^path:incdir://'`
OMPI_CPPFLAGS="-isystem $ompi_include -isystem $ompi_include/openmpi"
AS_IF([test -f "$ompi_include/openmpi/orte/mca/ras/ras.h"], [AC_MSG_RESULT([$ompi_include])],
    [AC_MSG_ERROR([not in $ompi_include/openmpi: this Open MPI was built without --with-devel-headers;
on Debian: apt-get install libopenmpi-dev])])

p2p_save_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $OMPI_CPPFLAGS"
AC_MSG_CHECKING([that headers and ompi_info are of one version])
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
#include <orte_config.h>
#include <orte/version.h>
#if ORTE_MAJOR_VERSION != 4 || ORTE_MINOR_VERSION != 1
#error other version
#endif
]])], [AC_MSG_RESULT([yes])], [AC_MSG_ERROR([the headers in $ompi_include are not those of 4.1])])
CPPFLAGS=$p2p_save_CPPFLAGS

OMPI_RTE_LIBS="-lopen-rte -lopen-pal"
OMPI_MPI_LIBS="-lmpi -lopen-rte -lopen-pal"

AC_MSG_CHECKING([where components go])
stock_componentdir=`$OMPI_INFO --path pkglibdir --parsable | sed 's/^path:pkglibdir://'`
stock_amcadir=`$OMPI_INFO --path pkgdatadir --parsable | sed 's/^path:pkgdatadir://'`/amca-param-sets
AC_ARG_WITH([component-dir], [AS_HELP_STRING([--with-component-dir=DIR],
    [where Open MPI looks for components (default: its own directory when that is writable, else
     ~/.openmpi/components, which it searches too)])], [componentdir=$withval], [
    AS_IF([test -w "$stock_componentdir"], [componentdir=$stock_componentdir], [componentdir=$HOME/.openmpi/components])])
AC_MSG_RESULT([$componentdir])
AC_SUBST([componentdir])
AC_SUBST([stock_componentdir])
AC_SUBST([stock_amcadir])
AC_SUBST([OMPI_CPPFLAGS])
AC_SUBST([OMPI_RTE_LIBS])
AC_SUBST([OMPI_MPI_LIBS])
])
