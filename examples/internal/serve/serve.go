// Package serve starts and stops the programs of the examples.
package serve

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Run serves until the program is told to end. Then it ends at once: what is in flight
// here matters to nobody.
func Run(server *http.Server) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server.ReadHeaderTimeout, server.IdleTimeout = 10*time.Second, time.Minute
	context.AfterFunc(ctx, func() { _ = server.Close() })
	log.Printf("listening on http://%s", server.Addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
