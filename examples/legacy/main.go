// Command legacy serves the old API of package api, for the examples to stand in
// front of. Let nothing but the gateway reach it.
package main

import (
	"flag"
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/examples/internal/serve"
	"github.com/gatehouse/gatehouse/examples/legacy/api"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8083", "address to listen on")
	pause := flag.Duration("import", 5*time.Second, "how long an import takes")
	flag.Parse()
	serve.Run(&http.Server{Addr: *listen, Handler: api.New(api.Options{Import: *pause})})
}
