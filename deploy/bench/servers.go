package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// document is the upstream's response, 229 bytes.
var document = `{"ok":true,"text":"` + strings.Repeat("x", 208) + `"}`

// element is one of the upstream's list, as a legacy API writes it.
const element = `{"aid":%d,"subject":"Notes on railway bridges, part 1","body":"Everything there is to say: notes on railway bridges.","tags":"history,town","state":1,"author":"u-1001","serial":9223372036854775807,"ctime":1704096000}`

func list(elements int) string {
	all := make([]string, elements)
	for i := range all {
		all[i] = fmt.Sprintf(element, 1000+i)
	}
	return fmt.Sprintf(`{"success":true,"result":{"total":"%d","list":[%s]}}`, elements, strings.Join(all, ","))
}

// nginxFrame has a single process, so that its CPU time is that of one process id.
const nginxFrame = `%sdaemon off;
master_process off;
pid $DIR/nginx.pid;
error_log stderr error;
events {
	worker_connections 4096;
}
http {
	access_log off;
	client_body_temp_path $DIR/temp;
	proxy_temp_path $DIR/temp;
	fastcgi_temp_path $DIR/temp;
	uwsgi_temp_path $DIR/temp;
	scgi_temp_path $DIR/temp;
	keepalive_requests 1000000000;
%s}
`

const upstreamSite = `	server {
		listen $ADDRESS;
		default_type application/json;
		location / {
			return 200 '$DOCUMENT';
		}
		location = /list {
			alias $DIR/list.json;
		}
	}
`

// startUpstream starts the API behind all gateways.
func (b *bench) startUpstream() (err error) {
	if b.upstreamAddress, err = b.ports.claim(); err != nil {
		return err
	}
	if err := os.WriteFile(b.file("list.json"), []byte(list(100)), 0o600); err != nil {
		return err
	}
	text := fmt.Sprintf(nginxFrame, "", strings.NewReplacer("$ADDRESS", b.upstreamAddress, "$DOCUMENT", document).Replace(upstreamSite))
	b.upstream, err = b.startNginx("upstream", text, b.upstreamAddress)
	return err
}

// startNginx starts nginx; $DIR is the folder of the whole benchmark.
func (b *bench) startNginx(name, config string, addresses ...string) (*process, error) {
	program, err := findProgram("nginx")
	if err != nil {
		return nil, err
	}
	file := b.file(name + ".conf")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(config, "$DIR", b.dir)), 0o600); err != nil {
		return nil, err
	}
	return startProcess(name, exec.Command(program, "-p", b.dir, "-e", "stderr", "-c", file), addresses...)
}

// startRedis starts the Redis in which limits are counted.
func (b *bench) startRedis() (err error) {
	program, err := findProgram("redis-server")
	if err != nil {
		return err
	}
	if b.redisAddress, err = b.ports.claim(); err != nil {
		return err
	}
	cmd := exec.Command(program, "--bind", "127.0.0.1", "--port", port(b.redisAddress), "--save", "", "--appendonly", "no", "--dir", b.dir)
	b.redis, err = startProcess("redis", cmd, b.redisAddress)
	return err
}

// file is a path in the folder of the benchmark.
func (b *bench) file(name string) string { return filepath.Join(b.dir, name) }
