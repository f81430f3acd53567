# SPDX-License-Identifier: BSD-3-Clause
# changelog.awk -- debian/changelog out of CHANGELOG.md: awk -v revision=1 -v time=SECONDS -f changelog.awk CHANGELOG.md
# Its versions have no days: each is taken for a day older than the one above it, which is of TIME.
# LC_ALL=C, as a day has an English name there.
function finish(    command, day) {
    if (version == "")
        return
    command = "date -u -R -d @" (time - 86400 * count++)
    command | getline day
    close(command)
    if (items == "")
        items = "  * See CHANGELOG.md.\n"
    printf "%sp2pgrid (%s-%s) unstable; urgency=medium\n\n%s\n -- %s  %s\n", between, version, revision, items, maintainer, day
    between = "\n"
}
/^## / { put(); finish(); version = $2; items = ""; next }
/^- / { put(); item = $0; sub(/^- /, "", item); next }
/^  [^ ]/ && item != "" { text = $0; sub(/^ */, "", text); item = item " " text; next }
{ put() }
END { put(); finish() }
function put() {
    gsub(/\*\*|`/, "", item)
    if (item != "")
        wrap(item, "  * ")
    item = ""
}
function wrap(text, first,    at) { # long lines are a person's, not a changelog's
    at = 79 - length(first)
    if (length(text) > at)
        while (at > 1 && substr(text, at, 1) != " ") at--
    items = items first substr(text, 1, at) "\n"
    sub(/ +\n$/, "\n", items)
    if (length(text) > at)
        wrap(substr(text, at + 1), "    ")
}
