package admin

import (
	"context"
	"errors"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/store"
)

// listGrants lists the living ones.
func listGrants(c *call) (any, error) {
	subject, known, err := c.subject()
	if err != nil {
		return nil, err
	}
	records, err := c.Store.List(c.r.Context(), store.KindGrant, subject, c.after, c.limit)
	if err != nil {
		return nil, err
	}
	if len(records) == 0 && c.after == "" && !known {
		return nil, c.noUser()
	}
	judge, err := ending.NewJudge(c.r.Context(), c.Store, subject)
	if err != nil {
		return nil, err
	}
	out := adminapi.List[adminapi.Grant]{Items: []adminapi.Grant{}}
	for _, rec := range records {
		var g store.Grant
		if err := store.Decode(rec.Value, &g); err != nil {
			return nil, err
		}
		ended, err := judge.Ended(c.r.Context(), g.Client, g.Epochs)
		if err != nil {
			return nil, err
		}
		if !ended && !g.Revoked() && c.Server.Now().Before(g.Expires) {
			out.Items = append(out.Items, adminapi.Grant{
				ID: g.ID, Client: g.Client, Scopes: append([]string{}, g.Scopes...), Resources: g.Resources,
				IssuedAt: g.IssuedAt, UsedAt: g.RotatedAt, ExpiresAt: g.Expires,
			})
		}
	}
	if len(records) == c.limit {
		out.Next = records[c.limit-1].ID
	}
	return out, nil
}

// revokeGrant kills one grant and what it issued, on every node within a second.
func revokeGrant(c *call) (any, error) {
	subject, _, err := c.subject()
	if err != nil {
		return nil, err
	}
	unknown := notFound("this user has no living grant " + c.names[1] + "; `caddy gatehouse grant list` shows them")
	g, living, err := c.findGrant(subject)
	switch {
	case err != nil:
		return nil, err
	case !living:
		return nil, unknown
	}
	if err := c.finish(func(ctx context.Context) error { return c.Server.EndGrant(ctx, subject, g.ID) }); err != nil {
		return nil, err
	}
	c.record(audit.Event{Name: audit.GrantRevoked, Subject: subject, Client: g.Client, Grant: g.ID})
	return nil, nil
}

// findGrant finds the grant that the path names. living is false only if no failover of the store can bring it back.
func (c *call) findGrant(subject string) (g store.Grant, living bool, err error) {
	ctx, key := c.r.Context(), store.Key{Kind: store.KindGrant, ID: c.names[1]}
	_, err = store.Read(ctx, c.Store, key, &g)
	if errors.Is(err, store.ErrNotFound) {
		return g, false, store.Confirm(ctx, c.Store, key)
	}
	if err != nil || g.Subject != subject {
		return g, false, err
	}
	ended, err := ending.Ended(ctx, c.Store, subject, g.Client, g.Epochs)
	if err != nil || !ended && !g.Revoked() {
		return g, err == nil, err
	}
	for _, k := range []store.Key{key, store.EndedKey(subject), store.PairKey(g.Client, subject)} {
		if err := store.Confirm(ctx, c.Store, k); err != nil {
			return g, false, err
		}
	}
	return g, false, nil
}

// revokeGrants takes back what a user gave one client, the remembered consent included,
// or without `client` everything: then the user's sessions end too.
func revokeGrants(c *call) (any, error) {
	client := c.query.Get("client")
	if c.query.Has("client") && client == "" {
		return nil, badField("client", "expected a client_id")
	}
	subject, known, err := c.subject()
	if err == nil && !known {
		known, err = c.left(subject)
	}
	if err != nil {
		return nil, err
	}
	if !known { // a slip of the pen must not look like something done
		return nil, c.noUser()
	}
	err = c.finish(func(ctx context.Context) error {
		if client != "" {
			return c.Server.EndClient(ctx, subject, client)
		}
		return c.Server.EndSubject(ctx, subject)
	})
	if err != nil {
		return nil, err
	}
	c.record(audit.Event{Name: audit.GrantRevoked, Subject: subject, Client: client})
	if client != "" && c.Configured[client] == nil { // said after it is done: what a client that is gone left has ended too
		if _, err := c.Stored.Get(c.r.Context(), client); errors.Is(err, clientstore.ErrNotFound) {
			return nil, notFound("there is no client " + client + "; `caddy gatehouse client list` shows them")
		}
	}
	return nil, nil
}

// left reports whether a user whom the directory does not know has left anything behind.
func (c *call) left(subject string) (bool, error) {
	for _, kind := range []store.Kind{store.KindGrant, store.KindSession, store.KindCode} {
		records, err := c.Store.List(c.r.Context(), kind, subject, "", 1)
		if err != nil || len(records) > 0 {
			return len(records) > 0, err
		}
	}
	return false, nil
}
