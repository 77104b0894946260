package gateway

import (
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/oauth"
)

// Where a client is kept.
const (
	sourceConfig = "config"
	sourceStore  = "store"
)

// clientView is a client as the admin API shows it: no secret and no hash of one.
type clientView struct {
	ID            string   `json:"id"`
	Source        string   `json:"source"`
	Name          string   `json:"name,omitempty"`
	Owner         string   `json:"owner,omitempty"`
	Public        bool     `json:"public"`
	Native        bool     `json:"native,omitempty"`
	Trusted       bool     `json:"trusted,omitempty"`
	Secrets       int      `json:"secrets"`
	RedirectURIs  []string `json:"redirect_uris"`
	Grants        []string `json:"grants"`
	Scopes        []string `json:"scopes"`
	DefaultScopes []string `json:"default_scopes,omitempty"`
	Audience      []string `json:"audience,omitempty"`
}

func viewClient(c *oauth.Client, source string) clientView {
	v := clientView{
		ID: c.ID, Source: source, Name: c.Name, Owner: c.Owner, Public: c.Public, Native: c.Native, Trusted: c.Trusted,
		Secrets: len(c.SecretHashes), RedirectURIs: append([]string{}, c.RedirectURIs...), Grants: []string{},
		Scopes: append([]string{}, c.Scopes...), DefaultScopes: c.DefaultScopes, Audience: c.Audience,
	}
	for _, g := range c.Grants {
		v.Grants = append(v.Grants, string(g))
	}
	return v
}

func listClients(c *adminCall) (adminAnswer, error) {
	after, limit, err := c.page()
	if err != nil {
		return adminAnswer{}, err
	}
	out := list[clientView]{Items: []clientView{}}
	for _, known := range c.clients.byID {
		if known.ID > after {
			out.Items = append(out.Items, viewClient(known, sourceConfig))
		}
	}
	slices.SortFunc(out.Items, func(a, b clientView) int { return strings.Compare(a.ID, b.ID) })
	if len(out.Items) > limit {
		out.Items = out.Items[:limit]
		out.Next = out.Items[limit-1].ID
	}
	return okay(out)
}

func getClient(c *adminCall) (adminAnswer, error) {
	known, ok, err := c.clients.Client(c.r.Context(), c.names[0])
	if err != nil {
		return adminAnswer{}, err
	}
	if !ok {
		return adminAnswer{}, notFound("there is no client " + c.names[0])
	}
	return okay(viewClient(known, sourceConfig))
}
