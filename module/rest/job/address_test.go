package job

import (
	"errors"
	"net/url"
	"strings"
	"testing"
)

func TestForbiddenAddressesAreFoundBeforeSending(t *testing.T) {
	a := newAddresses(nil, nil, nil)
	for text, want := range map[string]error{
		"https://files.example/a.csv":            nil,
		"https://files.example:8443/a?b=c#d":     nil,
		"HTTPS://FILES.EXAMPLE/":                 nil,
		"https://93.184.215.14/":                 nil,
		"https://[2606:2800:220:1::1]/":          nil,
		"https://bücher.example/":                nil,
		"https://1.example/":                     nil,
		"https://[::ffff:93.184.215.14]/":        nil, // connects to the IPv4 address
		"":                                       errUnfit,
		"files.example/a":                        errUnfit,
		"//files.example/a":                      errUnfit,
		"http://files.example/":                  errUnfit,
		"ftp://files.example/":                   errUnfit,
		"file:///etc/passwd":                     errUnfit,
		"gopher://files.example/":                errUnfit,
		"https:files.example":                    errUnfit,
		"https://":                               errUnfit,
		"https:///a":                             errUnfit,
		"https://user@files.example/":            errUnfit,
		"https://user:password@files.example/":   errUnfit,
		"https://127.0.0.1@files.example/":       errUnfit,
		"https://files.example:0/":               errUnfit,
		"https://files.example:65536/":           errUnfit,
		"https://files.example:/":                errUnfit,
		"https://files.example/\r\nHost: x":      errUnfit,
		" https://files.example/":                errUnfit,
		"https://files.exa mple/":                errUnfit,
		"https://\u00ad/":                        errUnfit,
		"https://127.0.0.1/":                     errForbidden,
		"https://127.0.0.1:443/":                 errForbidden,
		"https://127.255.255.254/":               errForbidden,
		"https://0.0.0.0/":                       errForbidden,
		"https://10.0.0.1/":                      errForbidden,
		"https://172.16.0.1/":                    errForbidden,
		"https://192.168.1.1/":                   errForbidden,
		"https://169.254.169.254/latest":         errForbidden,
		"https://100.64.0.1/":                    errForbidden, // CGNAT; Alibaba's metadata are at 100.100.100.200
		"https://100.100.100.200/":               errForbidden,
		"https://192.0.0.192/":                   errForbidden, // Oracle's
		"https://198.18.0.1/":                    errForbidden,
		"https://224.0.0.1/":                     errForbidden,
		"https://255.255.255.255/":               errForbidden,
		"https://[::]/":                          errForbidden,
		"https://[::1]/":                         errForbidden,
		"https://[0:0:0:0:0:0:0:1]/":             errForbidden,
		"https://[::ffff:127.0.0.1]/":            errForbidden,
		"https://[::ffff:7f00:1]/":               errForbidden,
		"https://[::ffff:169.254.169.254]/":      errForbidden,
		"https://[::127.0.0.1]/":                 errForbidden,
		"https://[fe80::1]/":                     errForbidden,
		"https://[fe80::1%25eth0]/":              errForbidden,
		"https://[2606:2800:220:1::1%25eth0]/":   errForbidden,
		"https://[fc00::1]/":                     errForbidden,
		"https://[fd00:ec2::254]/":               errForbidden, // AWS's metadata
		"https://[ff02::1]/":                     errForbidden,
		"https://[64:ff9b::7f00:1]/":             errForbidden, // NAT64
		"https://[64:ff9b::a9fe:a9fe]/":          errForbidden,
		"https://[64:ff9b:1::7f00:1]/":           errForbidden,
		"https://[2002:7f00:1::]/":               errForbidden, // 6to4
		"https://[2001:0:7f00:1::]/":             errForbidden, // Teredo
		"https://[2001:db8::1]/":                 errForbidden,
		"https://2130706433/":                    errForbidden,
		"https://017700000001/":                  errForbidden,
		"https://0x7f000001/":                    errForbidden,
		"https://0x7f.0.0.1/":                    errForbidden,
		"https://0177.0.0.1/":                    errForbidden,
		"https://127.1/":                         errForbidden,
		"https://127.0.1/":                       errForbidden,
		"https://0/":                             errForbidden,
		"https://127.0.0.1./":                    errForbidden,
		"https://127.0.0.0x1/":                   errForbidden,
		"https://127.0.0.0X1/":                   errForbidden,
		"https://0x/":                            errForbidden,
		"https://127.0.0.01/":                    errForbidden,
		"https://files.example.256/":             errForbidden,
		"https://１２７.0.0.1/":                     errForbidden, // fullwidth digits
		"https://127。0。0。1/":                     errForbidden, // ideographic full stops
		"https://①②⑦.0.0.1/":                     errForbidden,
		"https://localhost/":                     errForbidden,
		"https://LOCALHOST./":                    errForbidden,
		"https://a.localhost/":                   errForbidden,
		"https://%6c%6f%63alhost/":               errUnfit,
		"https://a/" + strings.Repeat("x", 3000): errUnfit,
	} {
		if _, err := a.parseURL(text); !errors.Is(err, want) {
			t.Errorf("%.100q: %v, want %v", text, err, want)
		}
	}
}

func TestExactlyTheAllowedRangesAreAllowed(t *testing.T) {
	f := &Fetch{Allow: []string{"127.0.0.0/8", "fd00::/8", "10.1.2.3"}}
	allow, err := prefixes("allow", f.Allow)
	if err != nil {
		t.Fatal(err)
	}
	a := newAddresses(allow, nil, nil)
	for text, want := range map[string]error{
		"https://127.0.0.1/":          nil,
		"https://[::ffff:127.0.0.1]/": nil,
		"https://localhost/":          nil,
		"https://[fd00::1]/":          nil,
		"https://10.1.2.3/":           nil,
		"https://10.1.2.4/":           errForbidden,
		"https://[::1]/":              errForbidden,
		"https://169.254.169.254/":    errForbidden,
		"https://2130706433/":         errForbidden,
	} {
		if _, err := a.parseURL(text); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func FuzzAddress(f *testing.F) {
	long := "https://files.example/" + strings.Repeat("é", 400) // more than maxAddress when it is escaped
	for _, text := range []string{"https://files.example/a", "https://127.1/", "https://[::ffff:7f00:1]/", "https://１２７.0.0.1/", "https://a%2eb/", long} {
		f.Add(text)
	}
	a := newAddresses(nil, nil, nil)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := a.parseURL(text)
		if err != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
			t.Errorf("%q: %+v", text, u)
		}
		// What is sent is judged alike. It may be longer than what was given: it is escaped.
		sent, err := url.Parse(u.String())
		if err == nil {
			err = a.checkURL(sent)
		}
		if err != nil || sent.Host != u.Host {
			t.Errorf("%q becomes %q: %v", text, u, err)
		}
	})
}
