#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes configure from configure.ac; needed in a git clone, not in a release.
cd "$(dirname "$0")" && exec autoreconf --install --warnings=all,no-obsolete
