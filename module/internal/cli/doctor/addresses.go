package doctor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/routes"
)

// addressesOf returns the addresses of a proxy, each in one form, or "" if they are not known before a request.
func addressesOf(raw json.RawMessage) (all []string) {
	var proxy struct {
		Upstreams []json.RawMessage `json:"upstreams"`
		Dynamic   json.RawMessage   `json:"dynamic_upstreams"`
		Upstream  []routes.Route    `json:"upstream"` // of api_rest
	}
	_ = json.Unmarshal(raw, &proxy) // what cannot be read has no addresses
	for _, one := range proxy.Upstreams {
		var text string
		var dial struct {
			Dial string `json:"dial"`
		}
		if json.Unmarshal(one, &text) != nil && json.Unmarshal(one, &dial) == nil {
			text = dial.Dial
		}
		all = append(all, oneForm(text))
	}
	if compact := new(bytes.Buffer); proxy.Dynamic != nil && json.Compact(compact, proxy.Dynamic) == nil {
		all = append(all, compact.String()) // as good as an address
	}
	for _, rt := range proxy.Upstream {
		for below := range rt.Handlers() {
			all = append(all, addressesOf(below)...)
		}
	}
	if len(all) == 0 {
		return []string{""}
	}
	return all
}

// oneForm writes an address like others of the same server: in lower case, with its port, and this machine by one name.
func oneForm(address string) string {
	if address == "" || strings.HasPrefix(address, "unix/") {
		return address
	}
	text := strings.ToLower(address)
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		scheme, rest = "", text
	}
	rest = strings.TrimPrefix(rest, "tcp/")
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		host, port = strings.Trim(rest, "[]"), map[string]string{"https": "443"}[scheme]
	}
	if host = strings.TrimSuffix(host, "."); loopback(host) || host == "" {
		host = "localhost"
	}
	return net.JoinHostPort(host, cmp.Or(port, "80"))
}

// onlyAsks reports whether a reverse_proxy asks whether a request may pass, as forward_auth does: to a 2xx, what comes next answers.
func onlyAsks(h routes.Handler) bool {
	return slices.ContainsFunc(h.HandleResponse, func(raw json.RawMessage) bool {
		var response struct {
			Match *struct {
				StatusCode []int           `json:"status_code"`
				Headers    json.RawMessage `json:"headers"`
			} `json:"match"`
			Routes []routes.Route `json:"routes"`
		}
		if json.Unmarshal(raw, &response) != nil {
			return true
		}
		for _, rt := range response.Routes {
			for _, below := range rt.Handlers() {
				if below.Handler == "copy_response" {
					return false
				}
			}
		}
		m := response.Match
		return m == nil || m.Headers == nil && (len(m.StatusCode) == 0 || slices.Contains(m.StatusCode, 2) || slices.Contains(m.StatusCode, 200))
	})
}
