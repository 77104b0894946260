// Command legacy serves the old API of package api, for the examples to stand in
// front of. Let nothing but the gateway reach it.
package main

import (
	"context"
	"errors"
	"flag"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gatehouse/gatehouse/examples/legacy/api"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8083", "address to listen on")
	pause := flag.Duration("import", 5*time.Second, "how long an import takes")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: *listen, Handler: api.New(api.Options{Import: *pause}), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	log.Printf("legacy API on http://%s", *listen)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
