# What people read. doc/messages draws the tables of doc/protocol.md.
dist_man_MANS += doc/p2pd.1 doc/p2pd-room.8 doc/p2pd-pmix.8 doc/p2pctl.1 doc/p2pd.conf.5 doc/p2pgrid.7 doc/p2pgrid-pmix.7 doc/pml_replica.7
# The pictures of the page are made by its test, in a browser, and doc/page.sha256 says of what page they are.
pictures: all
	SCREENSHOTS=$(abs_top_srcdir)/doc $(TEST_ENV) $(top_srcdir)/test/grid/web
.PHONY: pictures
EXTRA_DIST += doc/page.sha256 doc/page-desktop.png doc/page-dark.png doc/page-phone.png doc/messages doc/protocol.md doc/design.md doc/overlay.md doc/firewall.md doc/glossary.md doc/json.md doc/source.md doc/measurements.md doc/measurements-notes.md doc/replication.md doc/replication-reasons.md doc/security.md \
    doc/troubleshooting.md doc/tutorial.md
