# Scripts for people: they work from the source tree and are no part of the installation.
contrib_scripts = contrib/setup contrib/check contrib/grid contrib/try
EXTRA_DIST += contrib/desktop.sh contrib/packages $(contrib_scripts) .ci/run .github/workflows/check.yml
