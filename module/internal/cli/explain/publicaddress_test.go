package explain

import (
	"fmt"
	"strings"
	"testing"
)

// S10: a site is shown under the address that a client uses, not under what Caddy listens on.
func TestSiteIsShownUnderItsPublicAddress(t *testing.T) {
	config := func(http, listen, host, extra, handlers string) string {
		return fmt.Sprintf(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{%s"servers":{"s":{"listen":[%q],%s"routes":[{"match":[{"host":[%q]}],"terminal":true,"handle":[%s]}]}}}}}`,
			http, listen, extra, host, handlers)
	}
	const (
		own     = `{"handler":"gatehouse_guard","audience":"https://api.example"},{"handler":"reverse_proxy"}`
		issuers = `{"handler":"gatehouse_guard"},{"handler":"reverse_proxy"}`
		plain   = `"automatic_https":{"disable":true},`
	)
	for name, c := range map[string]struct{ config, want, found, not string }{
		"https":               {config("", ":443", "api.example", "", own), "https://api.example", "https://api.example", "http://api.example"},
		"another port":        {config("", ":8443", "web.example", "", own), "https://web.example:8443", "https://web.example:8443", "https://web.example"},
		"https_port":          {config(`"https_port":8443,`, ":8443", "web.example", "", own), "https://web.example", "https://web.example", "http://web.example"},
		"http_port":           {config(`"http_port":8080,`, ":8080", "web.example", "", own), "http://web.example", "http://web.example", "https://web.example"},
		"plain":               {config("", "127.0.0.1:8080", "web.example", plain, own), "http://web.example:8080", "http://web.example:8080", "http://web.example"},
		"a proxy in front":    {config("", ":8080", "api.example", plain, own), "https://api.example", "https://api.example", "https://api.example:8443"},
		"the issuer, a proxy": {config("", ":8080", "id.example", plain, `{"handler":"gatehouse_server"},`+issuers), "https://id.example", "https://id.example", "https://id.example:8443"},
		"not the issuer":      {config("", ":8080", "id.example", plain, issuers), "http://id.example:8080", "http://id.example:8080", "https://id.example"},
	} {
		t.Run(name, func(t *testing.T) {
			parsed, err := ReadConfiguration([]byte(c.config))
			if err != nil {
				t.Fatal(err)
			}
			ask := func(address string) []Explanation {
				q, err := NewQuestion("GET", address, nil)
				if err != nil {
					t.Fatal(err)
				}
				all, err := Request(parsed, q)
				if err != nil {
					t.Fatal(err)
				}
				return all
			}
			if all := ask("/x"); len(all) != 1 || all[0].Address != c.want {
				t.Errorf("shown as %+v, want %s", all, c.want)
			}
			if all := ask(c.found + "/x"); len(all) != 1 || all[0].Address != c.found {
				t.Errorf("%s finds %+v", c.found, all)
			}
			if all := ask(c.not + "/x"); len(all) != 0 {
				t.Errorf("%s finds %+v", c.not, all)
			}
			q, err := NewQuestion("GET", c.not+"/x", nil)
			if err != nil {
				t.Fatal(err)
			}
			if said := NoSite(q, parsed); !strings.HasSuffix(said, c.want+" (Caddy listens on "+parsed.Servers["s"].Listen[0]+")") {
				t.Errorf("said of %s: %s", c.not, said)
			}
		})
	}
}

// N17: sites on several ports have one audience, which says that each is reached at the same
// address. The one that listens there is explained.
func TestExplainChoosesTheSiteByPort(t *testing.T) {
	site := func(listen, host string) string {
		return fmt.Sprintf(`{"listen":[%q],"automatic_https":{"disable":true},"routes":[{"match":[{"host":[%q]}],"terminal":true,"handle":[{"handler":"gatehouse_guard","audience":"http://api.example:8080"},{"handler":"reverse_proxy"}]}]}`, listen, host)
	}
	for name, c := range map[string]struct {
		servers []string
		want    string
	}{
		"two ports":                     {[]string{site(":8081", "api.example"), site(":8080", "api.example")}, ":8080"},
		"a wildcard":                    {[]string{site(":8081", "api.example"), site(":8080", "*.example")}, ":8080"},
		"nobody listens there":          {[]string{site(":8081", "api.example")}, ":8081"},
		"the one there is another host": {[]string{site(":8081", "api.example"), site(":8080", "web.example")}, ":8080 :8081"},
	} {
		var servers []string
		for i, s := range c.servers {
			servers = append(servers, fmt.Sprintf(`"s%d":%s`, i, s))
		}
		parsed, err := ReadConfiguration([]byte(`{"apps":{"gatehouse":{"issuer":"https://id.example"},"http":{"servers":{` + strings.Join(servers, ",") + `}}}}`))
		if err != nil {
			t.Fatal(err)
		}
		q, err := NewQuestion("GET", "http://api.example:8080/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		all, err := Request(parsed, q)
		var got []string
		for _, one := range all {
			got = append(got, one.Listen...)
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v %v, want %s", name, got, err, c.want)
		}
	}
}
