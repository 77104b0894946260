package admin

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// overlapDefault is for how long a replaced secret goes on to work when nobody says:
// long enough to put the new one where the old one is.
const overlapDefault = 24 * time.Hour

// configured shows a client of the configuration.
func configured(c *oauth.Client) adminapi.Client {
	return adminapi.Client{Source: adminapi.SourceConfig, Definition: clientstore.Describe(c)}
}

func listClients(c *call) (answer, error) {
	after, limit, err := c.page()
	if err != nil {
		return answer{}, err
	}
	stored, err := c.Stored.List(c.r.Context(), after, limit)
	if err != nil {
		return answer{}, err
	}
	all := []adminapi.Client{}
	for _, d := range stored {
		if c.Configured[d.ID] == nil { // a stored client never shadows a configured one
			all = append(all, adminapi.Client{Source: adminapi.SourceStore, Definition: d})
		}
	}
	for _, known := range c.Configured {
		if known.ID > after {
			all = append(all, configured(known))
		}
	}
	slices.SortFunc(all, func(a, b adminapi.Client) int { return cmp.Compare(a.ID, b.ID) })
	out := adminapi.List[adminapi.Client]{Items: all[:min(len(all), limit)]}
	if len(all) > limit || len(stored) == limit {
		out.Next = out.Items[len(out.Items)-1].ID
	}
	return okay(out)
}

func getClient(c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	if known := c.Configured[c.names[0]]; known != nil {
		return okay(configured(known))
	}
	d, err := c.Stored.Get(c.r.Context(), c.names[0])
	if err != nil {
		return answer{}, c.clientError(err)
	}
	return okay(adminapi.Client{Source: adminapi.SourceStore, Definition: d})
}

func createClient(c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	var d clientstore.Definition
	if err := c.readBody(&d); err != nil {
		return answer{}, err
	}
	if err := onlyDefined(d); err != nil {
		return answer{}, err
	}
	made, secret, err := c.Stored.Create(c.r.Context(), d)
	if err != nil {
		return answer{}, c.clientError(err)
	}
	c.record(audit.Event{Name: audit.ClientChanged, Client: made.ID, Scopes: made.Scopes, Reason: "created"})
	return answer{
		status: http.StatusCreated, location: adminapi.Path("clients", made.ID),
		body: adminapi.ClientWithSecret{Client: adminapi.Client{Source: adminapi.SourceStore, Definition: made}, Secret: secret},
	}, nil
}

// onlyDefined refuses what a definition tells and nobody sets.
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

func updateClient(c *call) (answer, error) {
	if err := c.changeable(); err != nil {
		return answer{}, err
	}
	body, err := c.body()
	if err != nil {
		return answer{}, err
	}
	var given clientstore.Definition
	if err := decodeBody(body, &given); err != nil {
		return answer{}, err
	}
	if err := onlyDefined(given); err != nil {
		return answer{}, err
	}
	// Decoded once more into what is there, the fields that the body does not have stay.
	err = c.Stored.Update(c.r.Context(), c.names[0], func(d *clientstore.Definition) error { return decodeBody(body, d) })
	if err != nil {
		return answer{}, c.clientError(err)
	}
	c.record(audit.Event{Name: audit.ClientChanged, Client: c.names[0], Reason: "updated"})
	return getClient(c)
}

func rotateClientSecret(c *call) (answer, error) {
	var in struct {
		// Overlap is a duration such as 24h or 7d; 0 for none.
		Overlap string `json:"overlap"`
	}
	if err := c.readBody(&in); err != nil {
		return answer{}, err
	}
	overlap := overlapDefault
	if in.Overlap != "" {
		var err error
		if overlap, err = c.ParseDuration(in.Overlap); err != nil {
			return answer{}, badField("overlap", "expected a duration such as 24h or 7d, or 0")
		}
	}
	if err := c.changeable(); err != nil {
		return answer{}, err
	}
	secret, err := c.Stored.RotateSecret(c.r.Context(), c.names[0], overlap)
	if err != nil {
		return answer{}, c.clientError(err)
	}
	c.record(audit.Event{Name: audit.ClientChanged, Client: c.names[0], Reason: "secret_rotated"})
	d, err := c.Stored.Get(c.r.Context(), c.names[0])
	if err != nil {
		// The secret is in force and cannot be asked for again: it is told all the same.
		d = clientstore.Definition{Client: oauth.Client{ID: c.names[0]}}
	}
	return okay(adminapi.ClientWithSecret{Client: adminapi.Client{Source: adminapi.SourceStore, Definition: d}, Secret: secret})
}

func deleteClient(c *call) (answer, error) {
	if err := c.changeable(); err != nil {
		return answer{}, err
	}
	if err := c.Stored.Delete(c.r.Context(), c.names[0]); err != nil {
		return answer{}, c.clientError(err)
	}
	c.record(audit.Event{Name: audit.ClientChanged, Client: c.names[0], Reason: "deleted"})
	return answer{status: http.StatusNoContent}, nil
}

// changeable refuses to change a client of the configuration.
func (c *call) changeable() error {
	if _, err := c.query(); err != nil {
		return err
	}
	if c.Configured[c.names[0]] != nil {
		return conflict("client " + c.names[0] + " is part of the configuration: change it there and reload")
	}
	return nil
}

// clientError gives an error of the clients in the store its answer.
func (c *call) clientError(err error) error {
	var invalid *oauth.FieldError
	switch {
	case errors.Is(err, clientstore.ErrNotFound):
		return notFound(fmt.Sprintf("there is no client %s", c.names[0]))
	case errors.Is(err, clientstore.ErrExists):
		return refuse(http.StatusConflict, envelope.Error{Code: "conflict", Field: "id", Message: "id: a client of this id exists"})
	case errors.As(err, &invalid):
		return refuse(http.StatusBadRequest, envelope.Error{Code: "invalid_parameter", Field: invalid.Field(), Message: err.Error()})
	}
	return err
}
