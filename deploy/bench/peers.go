package main

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed haproxy.cfg
var haproxyConfig string

//go:embed nginx.lua
var nginxLua string

const nginxProxySite = `	upstream api {
		server $UPSTREAM;
		keepalive 256;
		keepalive_requests 1000000000;
	}
	server {
		listen $PLAIN;
		location / {
			proxy_pass http://api;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
`

const nginxLuaSites = `	lua_package_path "$DIR/?.lua;/usr/share/lua/5.1/?.lua;;";
	init_worker_by_lua_block {
		gate = require "gate"
		gate.init("$DIR/peer.pem", "` + audience + `", "$REDISHOST", $REDISPORT)
	}
	server {
		listen $CHECKED;
		location / {
			access_by_lua_block { gate.check() }
			proxy_pass http://api;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
	server {
		listen $LIMITED;
		location / {
			access_by_lua_block { gate.limit(gate.check()) }
			proxy_pass http://api;
			proxy_http_version 1.1;
			proxy_set_header Connection "";
		}
	}
`

// luaModules are what Debian's package libnginx-mod-http-lua installs.
var luaModules = []string{"/usr/lib/nginx/modules/ndk_http_module.so", "/usr/lib/nginx/modules/ngx_http_lua_module.so"}

// peers are other gateways with which Debian can do the same. Those that are not installed
// are left out, with a line in the report.
type peers struct {
	nginx, nginxChecked, nginxLimited *gateway
	haproxy, haproxyChecked           *gateway
}

func (b *bench) newPeers() *peers {
	var p peers
	p.nginx = &gateway{name: "nginx", start: func(g *gateway) (err error) {
		if g.http, err = b.ports.claim(); err != nil {
			return err
		}
		text := strings.NewReplacer("$UPSTREAM", b.upstreamAddress, "$PLAIN", g.http).Replace(nginxProxySite)
		g.process, err = b.startNginx("nginx", fmt.Sprintf(nginxFrame, "", text), g.http)
		return err
	}}
	p.nginxChecked = &gateway{name: "nginx with Lua", start: func(*gateway) error { return b.startNginxLua(&p) }}
	p.nginxLimited = &gateway{name: "nginx with Lua and Redis", start: func(*gateway) error { return b.startNginxLua(&p) }}
	p.haproxy = &gateway{name: "HAProxy", start: func(*gateway) error { return b.startHAProxy(&p) }}
	p.haproxyChecked = &gateway{name: "HAProxy with jwt_verify", start: func(*gateway) error { return b.startHAProxy(&p) }}
	return &p
}

// startNginxLua starts both gateways with Lua, which are one process.
func (b *bench) startNginxLua(p *peers) error {
	load := ""
	for _, module := range luaModules {
		if _, err := os.Stat(module); err != nil {
			return fmt.Errorf("%w: Debian has it in libnginx-mod-http-lua", err)
		}
		load += "load_module " + module + ";\n"
	}
	if err := os.WriteFile(b.file("gate.lua"), []byte(nginxLua), 0o600); err != nil {
		return err
	}
	var addresses [3]string
	for i := range addresses {
		var err error
		if addresses[i], err = b.ports.claim(); err != nil {
			return err
		}
	}
	host, redisPort, _ := strings.Cut(b.redisAddress, ":")
	text := strings.NewReplacer("$UPSTREAM", b.upstreamAddress, "$PLAIN", addresses[0], "$CHECKED", addresses[1], "$LIMITED", addresses[2],
		"$REDISHOST", host, "$REDISPORT", redisPort).Replace(nginxProxySite + nginxLuaSites)
	process, err := b.startNginx("nginx-lua", fmt.Sprintf(nginxFrame, load, text), addresses[:]...)
	p.nginxChecked.http, p.nginxLimited.http = addresses[1], addresses[2]
	p.nginxChecked.process, p.nginxLimited.process = process, process
	return err
}

// startHAProxy starts both gateways with HAProxy, which are one process.
func (b *bench) startHAProxy(p *peers) error {
	program, err := findProgram("haproxy")
	if err != nil {
		return err
	}
	if p.haproxy.http, err = b.ports.claim(); err != nil {
		return err
	}
	if p.haproxyChecked.http, err = b.ports.claim(); err != nil {
		return err
	}
	text := strings.NewReplacer("$PLAIN", p.haproxy.http, "$CHECKED", p.haproxyChecked.http, "$UPSTREAM", b.upstreamAddress,
		"$KEY", b.file("peer.pem"), "$AUDIENCE", audience).Replace(haproxyConfig)
	file := filepath.Join(b.dir, "haproxy.cfg")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	process, err := startProcess("HAProxy", exec.Command(program, "-db", "-f", file), p.haproxy.http, p.haproxyChecked.http)
	p.haproxy.process, p.haproxyChecked.process = process, process
	return err
}
