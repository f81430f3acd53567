/* SPDX-License-Identifier: BSD-3-Clause */
/* secret.c -- the list. */
#include "secret.h"
#include "pattern.h"
#include <stddef.h>

bool secret_by_name(const char *name)
{
    static const char *const patterns[] = {
        /* folders */
        ".ssh", ".gnupg", ".git", ".hg", ".svn", ".aws", ".azure", ".kube", ".docker", ".gcloud",
        ".password-store", ".mozilla", ".thunderbird", ".p2pgrid",
        /* keys */
        "id_rsa", "id_rsa.*", "id_dsa", "id_dsa.*", "id_ecdsa*", "id_ed25519*", "*_rsa",
        "*_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
        "*.gpg", "*.asc",
        /* passwords */
        ".env", ".env.*", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".htpasswd", ".npmrc",
        ".pypirc", ".git-credentials", ".vault-token", ".Xauthority", ".ICEauthority",
        "credentials.json", "client_secret*.json", ".*_history"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++)
        if (pattern_matches(patterns[i], name))
            return true;
    return false;
}
