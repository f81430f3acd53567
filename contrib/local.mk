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
