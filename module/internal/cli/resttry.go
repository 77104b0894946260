package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/gateway/restapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// try carries a request to the one handler that is meant. Where a site has several, the
// first that declares the request's path is taken.
func try(c *explain.Configuration, q explain.Question, site string, header http.Header, body []byte, up restapi.Imagined) (tried restapi.Tried, err error) {
	sites, asked := restSites(c), site == ""
	if asked {
		site = q.Host
	}
	found, names := chosen(sites, site)
	host, _, ported := strings.Cut(site, ":")
	if asked && ported && len(found) == 0 { // the gateway may be reached at another port than it listens on
		found, names = chosen(sites, host)
	}
	switch {
	case len(sites) == 0:
		return tried, errors.New("the configuration has no api_rest")
	case len(found) == 0:
		_, names = chosen(sites, "")
		return tried, fmt.Errorf("--site %s: no api_rest stands there, expected one of: %s", site, strings.Join(names, ", "))
	case len(found) > 1 && len(names) > 1:
		return tried, fmt.Errorf("api_rest stands in several sites, expected --site with one of: %s", strings.Join(names, ", "))
	}
	ctx, cancel := caddy.NewContext(caddy.Context{Context: context.Background()})
	defer cancel()
	for _, raw := range found {
		r, err := q.HTTPRequest(ctx, host)
		if err != nil {
			return tried, err
		}
		r.Header = header.Clone()
		if x, err := restapi.Explain(nil, raw, r); err == nil && x.Own {
			return tried, fmt.Errorf("%s %s: %s, which is not tried offline", q.Method, q.Target, x.Text)
		}
		trial, err := restapi.NewTrial(ctx, raw)
		if err != nil {
			return tried, err
		}
		if len(body) > 0 {
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		if tried, err = trial.Try(r, up); err != nil || len(tried.Sent) > 0 || tried.Status != http.StatusNotFound {
			return tried, err
		}
	}
	return tried, nil
}
