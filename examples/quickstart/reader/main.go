// Command reader is the client application of the quick start. The client's secret
// comes from the environment variable READER_SECRET, because arguments show in the
// list of processes.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gatehouse/gatehouse/examples/internal/serve"
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
	serve.Run(&http.Server{Addr: *listen, Handler: reader, ReadTimeout: 30 * time.Second})
}
