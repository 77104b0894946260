package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The directives of the two proxies, Caddy's and the gateway's.
const (
	caddysProxy = "reverse_proxy"
	OwnProxy    = "api_proxy"
)

// ownHandler is the name of api_proxy in JSON. That of reverse_proxy is the same as its directive.
const ownHandler = "gatehouse_proxy"

// proxyVariable is the environment variable that names the proxy for all suites.
const proxyVariable = "GATEHOUSE_PROXY"

// SuiteProxy is the proxy for all gateways of a suite, unless the environment variable GATEHOUSE_PROXY names one. ""
// leaves the configurations as they are.
var SuiteProxy string

// Proxy returns the proxy for all gateways, or "" if configurations stay as they are.
func Proxy() string { return cmp.Or(os.Getenv(proxyVariable), SuiteProxy) }

// UseProxy sets the proxy for all gateways of a test.
func UseProxy(t testing.TB, name string) {
	t.Helper()
	t.Setenv(proxyVariable, name)
}

// OnEachProxy runs a test with each proxy.
func OnEachProxy(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, name := range []string{caddysProxy, OwnProxy} {
		t.Run(name, func(t *testing.T) {
			UseProxy(t, name)
			test(t)
		})
	}
}

// withProxy replaces the proxies in a configuration by the one for all gateways, wherever that can do the same.
func withProxy(config []byte) ([]byte, error) {
	name := Proxy()
	if name == "" {
		return config, nil
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.UseNumber()
	var all any
	if err := d.Decode(&all); err != nil {
		return nil, err
	}
	exchangeProxies(all, name)
	return json.Marshal(all)
}

func exchangeProxies(part any, name string) {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			exchangeProxies(p, name)
		}
	case map[string]any:
		for _, p := range part {
			exchangeProxies(p, name)
		}
		switch written := part["handler"]; {
		case written == caddysProxy && name == OwnProxy:
			toOwnProxy(part)
		case written == ownHandler && name == caddysProxy:
			toCaddysProxy(part)
		}
	}
}

// toOwnProxy replaces a reverse_proxy that has only plain addresses, and TLS without settings.
func toOwnProxy(handler map[string]any) {
	for member := range handler {
		if !slices.Contains([]string{"handler", "upstreams", "transport"}, member) {
			return
		}
	}
	scheme := ""
	if handler["transport"] != nil {
		if transport, _ := json.Marshal(handler["transport"]); string(transport) != `{"protocol":"http","tls":{}}` {
			return
		}
		scheme = "https://"
	}
	var addresses []any
	upstreams, _ := handler["upstreams"].([]any)
	for _, u := range upstreams {
		members, _ := u.(map[string]any)
		dial, _ := members["dial"].(string)
		if len(members) != 1 || dial == "" || strings.Contains(dial, "{") {
			return
		}
		addresses = append(addresses, scheme+dial)
	}
	delete(handler, "transport")
	handler["handler"], handler["upstreams"] = ownHandler, addresses
}

// toCaddysProxy replaces an api_proxy that has only addresses.
func toCaddysProxy(handler map[string]any) {
	if len(handler) != 2 {
		return
	}
	var upstreams []any
	addresses, _ := handler["upstreams"].([]any)
	for _, a := range addresses {
		dial, _ := a.(string)
		secure := false
		dial = strings.TrimPrefix(dial, "http://")
		if dial, secure = strings.CutPrefix(dial, "https://"); secure {
			handler["transport"] = map[string]any{"protocol": "http", "tls": map[string]any{}}
		}
		if !strings.HasPrefix(dial, "unix/") && !strings.Contains(dial[strings.LastIndex(dial, "]")+1:], ":") {
			dial += map[bool]string{false: ":80", true: ":443"}[secure]
		}
		upstreams = append(upstreams, map[string]any{"dial": dial})
	}
	handler["handler"], handler["upstreams"] = caddysProxy, upstreams
}

var (
	proxyLine = regexp.MustCompile(`(?m)^([ \t]*)(?:reverse_proxy|api_proxy)((?: [^\s{]+)+)$`)
	toLine    = regexp.MustCompile(`(?m)^([ \t]*)to((?: [^\s{]+:[0-9]+)+)$`)
)

// ProxyInText replaces the proxies of a Caddyfile that have no block by the one for all gateways.
func ProxyInText(caddyfile string) string {
	name := Proxy()
	if name == "" {
		return caddyfile
	}
	caddyfile = proxyLine.ReplaceAllString(caddyfile, "${1}"+name+"${2}")
	if name == caddysProxy {
		caddyfile = toLine.ReplaceAllString(caddyfile, "${1}to {\n${1}\treverse_proxy${2}\n${1}}")
	}
	return caddyfile
}
