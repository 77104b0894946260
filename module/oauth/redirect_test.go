package oauth

import (
	"net/url"
	"strings"
	"testing"
)

// unregistrable are addresses that no client may have, whatever its kind (A09).
var unregistrable = []string{
	"", "cb", "/cb", "//evil.example", "//evil.example/cb", `/\evil.example`, `\\evil.example`, "?x=1", "#f",
	"javascript:alert(1)", "JaVaScRiPt:alert(1)", "javascript://web.example/%0aalert(1)", "data:text/html,x",
	"vbscript:msgbox(1)", "file:///etc/passwd", "blob:https://web.example/1", "about:blank",
	"https:evil.example", "https:/evil.example", "https:///cb", "https://", "https://:443/cb",
	"https://web.example/cb\t", "https://web.example/\vcb", "https://web.example/cb\r\nSet-Cookie: x=1", "https://web.example/c b",
	" https://web.example/cb", "https://web.example/cb\x00", "https://web.example/\u00e9", "https://w\u0435b.example/cb",
	`https://web.example\@evil.example/cb`, `https://web.example/a\b`,
	"https://user@web.example/cb", "https://user:pass@web.example/cb", "https://web.example@evil.example/cb", "https://@web.example/cb",
	"https://web.example/cb#", "https://web.example/cb#f",
	"https://*.example/cb", "https://web.example/*",
	"https://web.example/a/../cb", "https://web.example/./cb", "https://web.example/cb/..", "https://web.example/%2e%2e/cb",
	"https://web.example/a%2fb", "https://web.example/a%2Fb",
	"http://web.example/cb", "HTTP://web.example/cb", "http://127.0.0.1.evil.example/cb", "http://localhost.evil.example/cb",
	"http://0x7f.1/cb", "http://192.168.0.1/cb", "http:/cb", "http://",
	"https://%D0%B0pple.example/cb", "https://accounts.example%E3%80%82evil.example/cb", "https://web%2eexample/cb", "http://[::1%25lo]/cb",
	"com.example.app://%D0%B0pple/cb",
	"https://web.example/%zz", "https://[::1/cb", "https://web.example:port/cb",
	"https://web.example/" + strings.Repeat("a", MaxRedirectURI),
}

func TestUnsafeRedirectURIsAreRefused(t *testing.T) { // A09
	for _, s := range unregistrable {
		for _, native := range []bool{false, true} {
			if CheckRedirectURI(s, native) == nil {
				t.Errorf("%q was accepted (native %v)", s, native)
			}
		}
	}
}

func TestRegistrableRedirectURIs(t *testing.T) {
	for _, c := range []struct {
		uri         string
		web, native bool
	}{
		{"https://web.example/cb", true, true},
		{"https://web.example", true, true},
		{"https://web.example:8443/cb?a=1&b=2", true, true},
		{"https://[2001:db8::1]/cb", true, true},
		{"https://xn--wb-dja.example/cb", true, true},
		{"https://web.example/cb;v=1", true, true},
		{"http://127.0.0.1/cb", true, true},
		{"http://127.0.0.1:8080/cb", true, true},
		{"http://[::1]/cb", true, true},
		{"http://localhost:3000/cb", true, true},
		{"com.example.app:/cb", false, true},
		{"com.example.app://cb", false, true},
		{"app:/cb", false, false}, // RFC 8252 section 7.1: no dot, no owner
		{"https://web.example/" + strings.Repeat("a", MaxRedirectURI-len("https://web.example/")), true, true},
	} {
		for native, want := range map[bool]bool{false: c.web, true: c.native} {
			if err := CheckRedirectURI(c.uri, native); (err == nil) != want {
				t.Errorf("%.60q, native %v: %v", c.uri, native, err)
			}
		}
	}
}

func TestRefusedAddressIsNotInTheError(t *testing.T) {
	for _, s := range unregistrable {
		if err := CheckRedirectURI(s, false); err != nil && len(s) > 8 && strings.Contains(err.Error(), s) {
			t.Errorf("%v", err)
		}
	}
}

func TestRedirectURIIsComparedExactly(t *testing.T) { // A05, A06, A08
	const web, query = "https://client.example/cb", "https://client.example/cb?a=1&b=2"
	for registered, others := range map[string][]string{
		web: {
			"", web + "123", web + "/", "https://client.example/Cb", "https://client.example/cb%2f", "https://client.example/cb/.",
			"https://client.example/cb/../cb", "https://client.example/cb/..;/x", web + "%00", web + "%0d%0a", web + "\r\n", web + "\x00",
			web + "?", web + "?x=1", web + "#", web + "#f", web + "%23f", " " + web, web + " ", "https://client.example/%63b",
			"https://client.example.evil.com/cb", "https://evilclient.example/cb", "https://client.example./cb",
			"https://client.example:443/cb", "HTTPS://CLIENT.EXAMPLE/cb", "https://CLIENT.example/cb", "http://client.example/cb",
			"https://xn--client-9ja.example/cb", "https://cl\u0456ent.example/cb", "https://client.example@evil.com/cb",
			`https://client.example\@evil.com/cb`, "https://client.example//cb", "//client.example/cb", "javascript:alert(1)",
		},
		query: {
			web, "https://client.example/cb?b=2&a=1", query + "&c=3", query + "&a=1", "https://client.example/cb?a=1",
			"https://client.example/cb?a=1&b=%32", "https://client.example/cb?a=1;b=2", query + "#f",
		},
		"com.example.app:/cb": {"com.example.app:/cb2", "COM.example.app:/cb", "com.example.app://cb", "com.example.apps:/cb"},
	} {
		for _, native := range []bool{false, true} {
			if !MatchRedirectURI(registered, registered, native) {
				t.Errorf("%q does not match itself", registered)
			}
			for _, sent := range others {
				if MatchRedirectURI(registered, sent, native) {
					t.Errorf("%q matched %q (native %v)", sent, registered, native)
				}
			}
		}
	}
}

func TestLoopbackPortIsFreeForNativeClients(t *testing.T) { // A10, A11, RFC 8252 section 7.3
	const four, six = "http://127.0.0.1/cb", "http://[::1]/cb"
	for _, c := range []struct {
		registered, sent string
		native, web      bool
	}{
		{four, "http://127.0.0.1:1/cb", true, false},
		{four, "http://127.0.0.1:65535/cb", true, false},
		{"http://127.0.0.1:8080/cb", "http://127.0.0.1:8081/cb", true, false},
		{"http://127.0.0.1:8080/cb", four, true, false},
		{six, "http://[::1]:9/cb", true, false},
		{"http://127.0.0.1", "http://127.0.0.1:9", true, false},
		{"http://127.0.0.1/cb?a=1", "http://127.0.0.1:9/cb?a=1", true, false},
		{four, six, false, false},
		{six, four, false, false},
		{"http://localhost/cb", "http://localhost:9/cb", true, false},
		{"http://localhost:3000/cb", "http://localhost/cb", true, false},
		{"http://localhost/cb", "http://127.0.0.1:9/cb", false, false},
		{"http://localhost/cb", "http://localhost.evil.example/cb", false, false},
		{"http://localhost/cb", "http://localhost:9@evil.example/cb", false, false},
		{"http://localhost/cb", "http://localhosts:9/cb", false, false},
		{"http://localhost/cb", "https://localhost:9/cb", false, false},
		{four, "http://127.0.0.1:9/cb?x=1", false, false},
		{four, "http://127.0.0.1:9/CB", false, false},
		{four, "http://127.0.0.1:9/cb/", false, false},
		{four, "http://127.0.0.1:9/cb#f", false, false},
		{four, "http://127.0.0.1.evil.example/cb", false, false},
		{four, "http://127.0.0.1:9@evil.example/cb", false, false},
		{four, "http://127.0.0.1@evil.example/cb", false, false},
		{four, "http://127.0.0.11/cb", false, false},
		{four, "http://127.0.0.1:/cb", false, false},
		{four, "http://127.0.0.1:+9/cb", false, false},
		{four, "http://127.0.0.1:9a/cb", false, false},
		{four, "http://127.0.0.1:123456/cb", false, false},
		{four, "http://127.0.0.2/cb", false, false},
		{four, "http://localhost/cb", false, false},
		{four, "http://localhost:9/cb", false, false},
		{four, "https://127.0.0.1:9/cb", false, false},
		{four, "HTTP://127.0.0.1:9/cb", false, false},
		{"http://localhost:3000/cb", "http://localhost:3000/cb", true, true},
		{"https://127.0.0.1/cb", "https://127.0.0.1:9/cb", false, false},
	} {
		for native, want := range map[bool]bool{true: c.native, false: c.web} {
			if got := MatchRedirectURI(c.registered, c.sent, native); got != want {
				t.Errorf("registered %q, sent %q, native %v: %v", c.registered, c.sent, native, got)
			}
		}
	}
}

func TestLoopbackHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.8.8.8": true, "::1": true, "[::1]": true, "::ffff:127.0.0.1": true,
		"": false, "localhost.": false, "LOCALHOST": false, "a.localhost": false, "127.1": false, "0.0.0.0": false, "::": false,
		"2130706433": false, "127.0.0.1.example": false,
	} {
		if Loopback(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}

// FuzzMatchRedirect holds the comparison to what makes it safe: whatever matches goes
// to the registered scheme, host, path and query, and only a port may differ.
func FuzzMatchRedirect(f *testing.F) {
	for _, s := range append(unregistrable, "https://client.example/cb", "http://127.0.0.1:9/cb", "http://[::1]:9/cb?a", "com.example.app:/cb") {
		f.Add("http://127.0.0.1/cb", s, true)
		f.Add("https://client.example/cb", s, false)
		f.Add(s, s, true)
	}
	f.Fuzz(func(t *testing.T, registered, sent string, native bool) {
		ok := MatchRedirectURI(registered, sent, native)
		switch {
		case registered == sent:
			if !ok {
				t.Fatal("an address does not match itself")
			}
			return
		case !ok || CheckRedirectURI(registered, native) != nil:
			return
		case !native:
			t.Fatalf("%q matched %q", sent, registered)
		}
		if err := CheckRedirectURI(sent, native); err != nil {
			t.Fatalf("%q matched %q but %v", sent, registered, err)
		}
		r, errR := url.Parse(registered)
		s, errS := url.Parse(sent)
		if errR != nil || errS != nil {
			t.Fatalf("%v, %v", errR, errS)
		}
		if r.Scheme != s.Scheme || r.Hostname() != s.Hostname() || r.EscapedPath() != s.EscapedPath() || r.RawQuery != s.RawQuery ||
			s.Scheme != "http" || !Loopback(s.Hostname()) || s.User != nil || s.Fragment != "" {
			t.Fatalf("%q matched %q", sent, registered)
		}
	})
}
