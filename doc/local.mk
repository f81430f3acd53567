# What people read. doc/messages draws the tables of doc/protocol.md.
EXTRA_DIST += doc/messages doc/protocol.md
