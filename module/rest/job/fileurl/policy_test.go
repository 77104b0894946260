package fileurl

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestForbiddenAddressesAreFoundBeforeSending(t *testing.T) {
	a := New(nil, nil, nil)
	for text, want := range map[string]error{
		"https://files.example/a.csv":            nil,
		"https://files.example:8443/a?b=c#d":     nil,
		"HTTPS://FILES.EXAMPLE/":                 nil,
		"https://93.184.215.14/":                 nil,
		"https://[2606:2800:220:1::1]/":          nil,
		"https://bücher.example/":                nil,
		"https://1.example/":                     nil,
		"https://[::ffff:93.184.215.14]/":        nil, // connects to the IPv4 address
		"":                                       ErrUnfit,
		"files.example/a":                        ErrUnfit,
		"//files.example/a":                      ErrUnfit,
		"http://files.example/":                  ErrUnfit,
		"ftp://files.example/":                   ErrUnfit,
		"file:///etc/passwd":                     ErrUnfit,
		"gopher://files.example/":                ErrUnfit,
		"https:files.example":                    ErrUnfit,
		"https://":                               ErrUnfit,
		"https:///a":                             ErrUnfit,
		"https://user@files.example/":            ErrUnfit,
		"https://user:password@files.example/":   ErrUnfit,
		"https://127.0.0.1@files.example/":       ErrUnfit,
		"https://files.example:0/":               ErrUnfit,
		"https://files.example:65536/":           ErrUnfit,
		"https://files.example:/":                ErrUnfit,
		"https://files.example/\r\nHost: x":      ErrUnfit,
		" https://files.example/":                ErrUnfit,
		"https://files.exa mple/":                ErrUnfit,
		"https://\u00ad/":                        ErrUnfit,
		"https://127.0.0.1/":                     ErrForbidden,
		"https://127.0.0.1:443/":                 ErrForbidden,
		"https://127.255.255.254/":               ErrForbidden,
		"https://0.0.0.0/":                       ErrForbidden,
		"https://10.0.0.1/":                      ErrForbidden,
		"https://172.16.0.1/":                    ErrForbidden,
		"https://192.168.1.1/":                   ErrForbidden,
		"https://169.254.169.254/latest":         ErrForbidden,
		"https://100.64.0.1/":                    ErrForbidden, // CGNAT; Alibaba's metadata are at 100.100.100.200
		"https://100.100.100.200/":               ErrForbidden,
		"https://192.0.0.192/":                   ErrForbidden, // Oracle's
		"https://198.18.0.1/":                    ErrForbidden,
		"https://224.0.0.1/":                     ErrForbidden,
		"https://255.255.255.255/":               ErrForbidden,
		"https://[::]/":                          ErrForbidden,
		"https://[::1]/":                         ErrForbidden,
		"https://[0:0:0:0:0:0:0:1]/":             ErrForbidden,
		"https://[::ffff:127.0.0.1]/":            ErrForbidden,
		"https://[::ffff:7f00:1]/":               ErrForbidden,
		"https://[::ffff:169.254.169.254]/":      ErrForbidden,
		"https://[::127.0.0.1]/":                 ErrForbidden,
		"https://[fe80::1]/":                     ErrForbidden,
		"https://[fe80::1%25eth0]/":              ErrForbidden,
		"https://[2606:2800:220:1::1%25eth0]/":   ErrForbidden,
		"https://[fc00::1]/":                     ErrForbidden,
		"https://[fd00:ec2::254]/":               ErrForbidden, // AWS's metadata
		"https://[ff02::1]/":                     ErrForbidden,
		"https://[64:ff9b::7f00:1]/":             ErrForbidden, // NAT64
		"https://[64:ff9b::a9fe:a9fe]/":          ErrForbidden,
		"https://[64:ff9b:1::7f00:1]/":           ErrForbidden,
		"https://[2002:7f00:1::]/":               ErrForbidden, // 6to4
		"https://[2001:0:7f00:1::]/":             ErrForbidden, // Teredo
		"https://[2001:db8::1]/":                 ErrForbidden,
		"https://2130706433/":                    ErrForbidden,
		"https://017700000001/":                  ErrForbidden,
		"https://0x7f000001/":                    ErrForbidden,
		"https://0x7f.0.0.1/":                    ErrForbidden,
		"https://0177.0.0.1/":                    ErrForbidden,
		"https://127.1/":                         ErrForbidden,
		"https://127.0.1/":                       ErrForbidden,
		"https://0/":                             ErrForbidden,
		"https://127.0.0.1./":                    ErrForbidden,
		"https://127.0.0.0x1/":                   ErrForbidden,
		"https://127.0.0.0X1/":                   ErrForbidden,
		"https://0x/":                            ErrForbidden,
		"https://127.0.0.01/":                    ErrForbidden,
		"https://files.example.256/":             ErrForbidden,
		"https://１２７.0.0.1/":                     ErrForbidden, // fullwidth digits
		"https://127。0。0。1/":                     ErrForbidden, // ideographic full stops
		"https://①②⑦.0.0.1/":                     ErrForbidden,
		"https://localhost/":                     ErrForbidden,
		"https://LOCALHOST./":                    ErrForbidden,
		"https://a.localhost/":                   ErrForbidden,
		"https://%6c%6f%63alhost/":               ErrUnfit,
		"https://a/" + strings.Repeat("x", 3000): ErrUnfit,
	} {
		if _, err := a.Parse(text); !errors.Is(err, want) {
			t.Errorf("%.100q: %v, want %v", text, err, want)
		}
	}
}

func TestExactlyTheAllowedRangesAreAllowed(t *testing.T) {
	a := New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("fd00::/8"), netip.MustParsePrefix("10.1.2.3/32")}, nil, nil)
	for text, want := range map[string]error{
		"https://127.0.0.1/":          nil,
		"https://[::ffff:127.0.0.1]/": nil,
		"https://localhost/":          nil,
		"https://[fd00::1]/":          nil,
		"https://10.1.2.3/":           nil,
		"https://10.1.2.4/":           ErrForbidden,
		"https://[::1]/":              ErrForbidden,
		"https://169.254.169.254/":    ErrForbidden,
		"https://2130706433/":         ErrForbidden,
	} {
		if _, err := a.Parse(text); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
}

func FuzzAddress(f *testing.F) {
	long := "https://files.example/" + strings.Repeat("é", 400) // more than maxLength when it is escaped
	for _, text := range []string{"https://files.example/a", "https://127.1/", "https://[::ffff:7f00:1]/", "https://１２７.0.0.1/", "https://a%2eb/", long} {
		f.Add(text)
	}
	a := New(nil, nil, nil)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := a.Parse(text)
		if err != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil || u.Hostname() == "" {
			t.Errorf("%q: %+v", text, u)
		}
		// What is sent is judged alike. It may be longer than what was given: it is escaped.
		sent, err := url.Parse(u.String())
		if err == nil {
			err = a.Check(sent)
		}
		if err != nil || sent.Host != u.Host {
			t.Errorf("%q becomes %q: %v", text, u, err)
		}
	})
}
