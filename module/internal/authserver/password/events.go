package password

import (
	"context"
	"encoding/base64"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// aboutName says in an event whose name was typed: the user, if the directory told, else a
// keyed digest by which events of one name can be put together. The name itself is not
// recorded, because people type their password into that field.
func (c *Checker) aboutName(ctx context.Context, e audit.Event, username, subject string) audit.Event {
	if subject != "" {
		e.Subject = subject
		return e
	}
	if username == "" {
		return e
	}
	if keys, err := c.Keys(ctx); err == nil {
		e.User = Pseudonym(nameDigest(keys, username))
	}
	return e
}

// RecordFailure records an attempt that was not accepted; client is the one it was made for, ""
// for none.
func (c *Checker) RecordFailure(ctx context.Context, username string, o Outcome, client string) {
	c.Audit.Record(ctx, c.aboutName(ctx, audit.Event{Name: audit.SignInFailed, Client: client, Reason: string(o.Verdict)}, username, o.Subject))
}

// nameDigest stands for a name that was typed. It is keyed, so that nobody finds the name by
// trying without the gateway's secret.
func nameDigest(keys *secret.Keys, username string) []byte {
	return keys.MAC(useTypedName, []byte(directory.FoldUsername(username)))[:12]
}

// Pseudonym writes a keyed digest as audit events have it.
func Pseudonym(digest []byte) string {
	return "hmac:" + base64.RawURLEncoding.EncodeToString(digest)
}
