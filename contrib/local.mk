# Scripts for people: they work from the source tree and are no part of the installation.
contrib_scripts = contrib/setup contrib/check contrib/grid contrib/try
EXTRA_DIST += contrib/desktop.sh contrib/packages $(contrib_scripts) .ci/run .github/workflows/check.yml
# Completion of command lines, out of contrib/completion/list.
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = contrib/completion/p2pctl contrib/completion/p2pd
zshcompletiondir = $(datadir)/zsh/site-functions
nodist_zshcompletion_DATA = contrib/completion/_p2pctl
completion_sources = contrib/completion/make contrib/completion/list
EXTRA_DIST += $(completion_sources)
contrib/completion/p2pctl: $(completion_sources)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(srcdir)/contrib/completion/make bash >$@
contrib/completion/p2pd: contrib/completion/p2pctl
	$(AM_V_GEN)cp contrib/completion/p2pctl $@
contrib/completion/_p2pctl: $(completion_sources)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(srcdir)/contrib/completion/make zsh >$@
CLEANFILES += $(nodist_bashcompletion_DATA) $(nodist_zshcompletion_DATA)
# Debian packages: make deb; DEB='--here --check'.
debian_sources = contrib/debian/build contrib/debian/changelog.awk contrib/debian/control contrib/debian/copyright \
    contrib/debian/libp2pgrid-dev.install contrib/debian/libp2pgrid0.install contrib/debian/not-installed \
    contrib/debian/p2pgrid-openmpi.install contrib/debian/p2pgrid.docs contrib/debian/p2pgrid.install \
    contrib/debian/p2pgrid.postinst contrib/debian/p2pgrid.prerm contrib/debian/rules contrib/debian/running.sh \
    contrib/debian/source/format contrib/debian/source/lintian-overrides
EXTRA_DIST += $(debian_sources)
deb:
	BUILD=$(abs_builddir) $(srcdir)/contrib/debian/build $(DEB)
.PHONY: deb
distclean-local: distclean-packages
distclean-packages:
	rm -rf packages
.PHONY: distclean-packages
