package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	clients = 1000
	secret  = "bench-secret-0123456789-0123456789-0123456789"
	// audience is that of all tokens.
	audience = "https://api.example"
)

// What the sites of Gatehouse consist of.
const (
	apiErrors  = "api_errors\n"
	oauthGuard = "oauth_guard {\n$RULES\nscope read GET /read /read/* /articles /articles/* /things /things/*\n}\n"
	apiLimit   = "api_limit {\nclient 1000000000 1h\nby minute client 1000000000 1m\n}\n"
	// full is what an API needs: errors, guard and two limits.
	full = apiErrors + oauthGuard + apiLimit
	// scarce refuses all but the first requests of a client.
	scarce = apiErrors + oauthGuard + "api_limit {\nclient 5 1h\nby minute client 5 1h\n}\n"
	// apiRest has a resource that needs no translation, and a list that needs some.
	apiRest = `api_rest {
	to $UPSTREAM
	resource articles
	resource things {
		upstream GET /things /list
		upstream GET /things/{id} /get?aid={id}
		list {
			items /result/list
			total /result/total
		}
		id /aid
		rename id=aid title=subject created_at=ctime
		values state published=1 draft=0
		links self
	}
}
`
	apiProxy = "api_proxy $UPSTREAM\n"
	// reverseProxy keeps as many idle connections as api_proxy does. By default it keeps 32 and
	// opens new ones for whatever is beyond that.
	reverseProxy = "reverse_proxy $UPSTREAM {\ntransport http {\nkeepalive_idle_conns_per_host 256\n}\n}\n"
)

// respond has Caddy answer like the upstream.
var respond = "header Content-Type application/json\nrespond `" + document + "`\n"

// gatehouse is one configuration of Gatehouse.
type gatehouse struct {
	site  string
	rules int    // of the guard; none but the last one matches
	redis bool   // where limits are counted
	cache string // for verified tokens, "" for the default
	// headroom is gc_headroom, "" for the default.
	headroom string
	secure   bool
}

// newGatehouse returns a gateway that does not run yet. All gateways have the state, and so
// the signing keys, of the issuer, which has been stopped by then.
func (b *bench) newGatehouse(name string, o gatehouse) *gateway {
	return b.newCaddy(name, caddy{
		program: b.options.caddy, global: b.globalOptions(name, o), secure: o.secure,
		site: strings.Replace(o.site, "$RULES", unmatchedRules(o.rules-1), 1),
		before: func(dir string) error {
			issuer := filepath.Join(b.dir, fileName(b.issuer.name))
			if dir == issuer {
				return nil
			}
			return copyFiles(filepath.Join(issuer, "state.db*"), dir)
		},
	})
}

func (b *bench) globalOptions(name string, o gatehouse) string {
	var text strings.Builder
	text.WriteString("gatehouse {\nissuer http://$ISSUER\nstore bolt $DIR/state.db\ntokens {\naudience " + audience + "\naccess 12h\n}\nscope read \"Read\"\n")
	if o.cache != "" {
		text.WriteString("token_cache " + o.cache + "\n")
	}
	if o.headroom != "" {
		text.WriteString("gc_headroom " + o.headroom + "\n")
	}
	if o.redis { // the counts of each configuration are its own; a busy machine is no outage
		fmt.Fprintf(&text, "limiter redis redis://$REDIS/0 {\nprefix %s:\ntimeout 2s\n}\n", fileName(name))
	}
	for i := range clients {
		fmt.Fprintf(&text, "client c%d {\nsecret %s\ngrants client_credentials\nscopes read\n}\n", i, secret)
	}
	text.WriteString("}")
	return text.String()
}

func unmatchedRules(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "scope read GET /resource-%d /resource-%d/*\n", i, i)
	}
	return text.String()
}

// copyFiles copies the files that match a pattern.
func copyFiles(pattern, dir string) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
