package remote

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse/gatehouse/plugins/internal/words"
)

// trustPools is the namespace of Caddy's modules that say which certificates are trusted.
const trustPools = "tls.ca_pool.source"

// TLSBlock reads the block of the option tls, with one of Caddy's modules for trusted certificates
// besides the texts in known:
//
//	tls {
//		trust_pool <module> ...
//		<word> <text>
//	}
func TLSBlock(pool *json.RawMessage, known map[string]*string) words.Reader {
	return func(d *caddyfile.Dispenser, _ string) error {
		if d.NextArg() {
			return d.ArgErr()
		}
		for nesting := d.Nesting(); d.NextBlock(nesting); {
			word := d.Val()
			into := known[word]
			switch {
			case word == "trust_pool" && *pool == nil:
				if err := readTrustPool(d, pool); err != nil {
					return err
				}
				continue
			case word != "trust_pool" && into == nil:
				all := append(slices.Collect(maps.Keys(known)), "trust_pool")
				slices.Sort(all)
				return d.Errf("tls: unrecognized word '%s', expected one of: %s", word, strings.Join(all, ", "))
			case into == nil || *into != "":
				return d.Errf("tls: %s is given twice", word)
			}
			if err := words.Text(into)(d, word); err != nil {
				return err
			}
		}
		return nil
	}
}

func readTrustPool(d *caddyfile.Dispenser, pool *json.RawMessage) error {
	if !d.NextArg() {
		return d.Errf("tls: trust_pool: expected one of Caddy's modules, such as `trust_pool file /etc/ssl/ca.pem`")
	}
	name := d.Val()
	if _, err := caddy.GetModule(trustPools + "." + name); err != nil {
		var names []string
		for _, m := range caddy.GetModules(trustPools) {
			names = append(names, m.ID.Name())
		}
		return d.Errf("tls: trust_pool: this build has no module %s.%s, expected one of: %s", trustPools, name, strings.Join(names, ", "))
	}
	module, err := caddyfile.UnmarshalModule(d, trustPools+"."+name)
	if err != nil {
		return err
	}
	*pool = caddyconfig.JSONModuleObject(module, "provider", name, nil)
	return nil
}

// LoadTrustPool loads the module in a field of a configuration, and returns the certificates that it
// trusts in PEM form: their text decides whether two configurations mean the same. It is "" if
// nothing is configured, or the system's certificates.
func LoadTrustPool(ctx caddy.Context, config any, field string) (string, error) {
	module, err := ctx.LoadModule(config, field)
	if err != nil || module == nil {
		return "", err
	}
	if m, ok := module.(caddy.Module); ok && m.CaddyModule().ID == trustPools+".system" {
		return "", nil
	}
	// The interfaces are those of the package caddytls, which has more than a plugin needs.
	pool, ok := module.(interface{ CertPool() *x509.CertPool })
	if !ok {
		return "", fmt.Errorf("%T has no certificates", module)
	}
	listed, ok := module.(interface{ Certificates() []*x509.Certificate })
	if !ok {
		return "", fmt.Errorf("%T does not list its certificates, expected a module that does, such as file or inline", module)
	}
	var text bytes.Buffer
	same := x509.NewCertPool()
	for _, c := range listed.Certificates() {
		same.AddCert(c)
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}); err != nil {
			return "", err
		}
	}
	if text.Len() == 0 {
		return "", errors.New("it has no certificate")
	}
	if !same.Equal(pool.CertPool()) {
		return "", fmt.Errorf("%T trusts more than the certificates it lists, expected a module that lists all, such as file or inline", module)
	}
	return text.String(), nil
}

// TrustText makes certificates in PEM form the only ones that c trusts; with "" those of the system stay.
func TrustText(c *tls.Config, text string) error {
	if text == "" {
		return nil
	}
	c.RootCAs = x509.NewCertPool()
	if !c.RootCAs.AppendCertsFromPEM([]byte(text)) {
		return errors.New("no certificate in PEM form")
	}
	return nil
}
