package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// gateway is a program in front of the upstream.
type gateway struct {
	name string
	// http, https and admin are where it listens, "" until it has started and where it does not.
	http, https, admin string
	process            *process
	start              func(*gateway) error
}

// caddyfile is the frame of all configurations of Caddy: $GLOBAL are further global options,
// $SITE are the directives.
const caddyfile = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	auto_https disable_redirects
	servers {
		protocols h1 h2
	}
	log {
		level ERROR
	}
$GLOBAL
}
(site) {
$SITE
}
http://localhost:$HTTP {
	import site
}
`

// caddyfileTLS is added for HTTP/2.
const caddyfileTLS = `https://localhost:$HTTPS {
	tls $DIR/cert.pem $DIR/key.pem
	import site
}
`

// caddy is a gateway that is a Caddy, Gatehouse or not.
type caddy struct {
	program      string
	global, site string
	secure       bool // also with TLS
	// before, if not nil, prepares the folder.
	before func(dir string) error
}

// newCaddy returns a gateway that does not run yet.
func (b *bench) newCaddy(name string, c caddy) *gateway {
	return &gateway{name: name, start: func(g *gateway) (err error) {
		addresses := []*string{&g.http, &g.admin}
		text := caddyfile
		if c.secure {
			addresses, text = append(addresses, &g.https), text+caddyfileTLS
		}
		var all []string
		for _, address := range addresses {
			if *address == "" {
				if *address, err = b.ports.claim(); err != nil {
					return err
				}
			}
			all = append(all, *address)
		}
		dir := filepath.Join(b.dir, fileName(name))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if c.before != nil {
			if err := c.before(dir); err != nil {
				return err
			}
		}
		text = strings.NewReplacer("$GLOBAL", c.global, "$SITE", c.site).Replace(text)
		text = strings.NewReplacer("$ADMIN", g.admin, "$HTTPS", port(g.https), "$HTTP", port(g.http), "$DIR/cert.pem", b.file("cert.pem"), "$DIR/key.pem", b.file("key.pem"),
			"$DIR", dir, "$UPSTREAM", b.upstreamAddress, "$REDIS", b.redisAddress, "$ISSUER", "localhost:"+port(b.issuer.http)).Replace(text)
		file := filepath.Join(dir, "Caddyfile")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		cmd := exec.Command(c.program, "run", "--config", file, "--adapter", "caddyfile")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		g.process, err = startProcess(name, cmd, all...)
		return err
	}}
}

// port is the port of an address.
func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// fileName makes a name of a row or gateway one of a file.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
}
