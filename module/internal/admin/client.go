package admin

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// overlapDefault is how long a replaced secret stays valid by default: long enough to install the
// new one.
const overlapDefault = 24 * time.Hour

func configured(c *oauth.Client) adminapi.Client {
	return adminapi.Client{Source: adminapi.SourceConfig, Definition: clientstore.Describe(c)}
}

func stored(d clientstore.Definition) adminapi.Client {
	return adminapi.Client{Source: adminapi.SourceStore, Definition: d}
}

func listClients(c *call) (any, error) {
	kept, err := c.Stored.List(c.r.Context(), c.after, c.limit)
	if err != nil {
		return nil, err
	}
	all := []adminapi.Client{}
	for _, d := range kept {
		if c.Configured[d.ID] == nil { // a stored client never shadows a configured one
			all = append(all, stored(d))
		}
	}
	for _, known := range c.Configured {
		if known.ID > c.after {
			all = append(all, configured(known))
		}
	}
	slices.SortFunc(all, func(a, b adminapi.Client) int { return cmp.Compare(a.ID, b.ID) })
	out := adminapi.List[adminapi.Client]{Items: all[:min(len(all), c.limit)]}
	if len(all) > c.limit || len(kept) == c.limit {
		out.Next = out.Items[len(out.Items)-1].ID
	}
	return out, nil
}

func getClient(c *call) (any, error) {
	if known := c.Configured[c.names[0]]; known != nil {
		return configured(known), nil
	}
	d, err := c.Stored.Get(c.r.Context(), c.names[0])
	return stored(d), err
}

func createClient(c *call, d clientstore.Definition) (any, error) {
	if err := onlyDefined(d); err != nil {
		return nil, err
	}
	made, secret, err := c.Stored.Create(c.r.Context(), d)
	if err != nil {
		return nil, err
	}
	c.record(audit.Event{Name: audit.ClientChanged, Client: made.ID, Scopes: made.Scopes, Reason: "created"})
	return reply{http.StatusCreated, adminapi.Path("clients", made.ID), adminapi.ClientWithSecret{Client: stored(made), Secret: secret}}, nil
}

// onlyDefined refuses values for read-only fields.
func onlyDefined(d clientstore.Definition) error {
	for field, given := range map[string]bool{
		"created": !d.Created.IsZero(), "secrets": d.Secrets != nil,
		"self_registered": d.SelfRegistered, "unused_until": !d.UnusedUntil.IsZero(),
	} {
		if given {
			return badField(field, "this is told and cannot be set")
		}
	}
	return nil
}

func updateClient(c *call) (any, error) {
	if err := c.changeable(); err != nil {
		return nil, err
	}
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	var given clientstore.Definition
	if err := decodeBody(body, &given); err != nil {
		return nil, err
	}
	if err := onlyDefined(given); err != nil {
		return nil, err
	}
	// Decoding the body into the stored definition keeps the fields that the body does not have.
	err = c.Stored.Update(c.r.Context(), c.names[0], func(d *clientstore.Definition) error { return decodeBody(body, d) })
	if err != nil {
		return nil, err
	}
	c.recordClient("updated")
	return getClient(c)
}

type secretRotation struct {
	Overlap string `json:"overlap"` // a duration such as 24h or 7d; 0 for none
}

func rotateClientSecret(c *call, in secretRotation) (any, error) {
	overlap := overlapDefault
	if in.Overlap != "" {
		var err error
		if overlap, err = c.ParseDuration(in.Overlap); err != nil {
			return nil, badField("overlap", "expected a duration such as 24h or 7d, or 0")
		}
	}
	if err := c.changeable(); err != nil {
		return nil, err
	}
	secret, err := c.Stored.RotateSecret(c.r.Context(), c.names[0], overlap)
	if err != nil {
		return nil, err
	}
	c.recordClient("secret_rotated")
	d, err := c.Stored.Get(c.r.Context(), c.names[0])
	if err != nil {
		// The secret is valid and cannot be shown again, so it is returned anyway.
		d = clientstore.Definition{Client: oauth.Client{ID: c.names[0]}}
	}
	return adminapi.ClientWithSecret{Client: stored(d), Secret: secret}, nil
}

func deleteClient(c *call) (any, error) {
	err := c.changeable()
	if err == nil {
		err = c.Stored.Delete(c.r.Context(), c.names[0])
	}
	if err == nil {
		c.recordClient("deleted")
	}
	return nil, err
}

func (c *call) recordClient(change string) {
	c.record(audit.Event{Name: audit.ClientChanged, Client: c.names[0], Reason: change})
}

// changeable refuses to change a client of the configuration.
func (c *call) changeable() error {
	if c.Configured[c.names[0]] != nil {
		return conflict("", "client "+c.names[0]+" is part of the configuration: change it there and reload")
	}
	return nil
}
