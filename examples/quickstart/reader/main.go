// Command reader is the client application of the quick start. The client's secret
// comes from the environment variable READER_SECRET, because arguments show in the
// list of processes.
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

	"github.com/gatehouse/gatehouse/examples/quickstart/reader/app"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8082", "address to listen on")
	self := flag.String("self", "http://localhost:8082", "address at which browsers reach this application")
	issuer := flag.String("issuer", "http://localhost:8080", "authorization server")
	api := flag.String("api", "http://localhost:8081", "guarded API")
	client := flag.String("client", "reader-web", "client id")
	flag.Parse()

	reader, err := app.New(app.Config{Issuer: *issuer, API: *api, Self: *self, ClientID: *client, ClientSecret: os.Getenv("READER_SECRET")})
	if err != nil {
		log.Fatal(err, " (the secret is read from READER_SECRET)")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Addr: *listen, Handler: reader, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	log.Printf("reader on %s", *self)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
