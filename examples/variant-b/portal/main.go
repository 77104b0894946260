// Command portal is the site of the example for Variant B: a stock WeChat library signs its
// visitors in. The client's secret comes from the environment variable PORTAL_SECRET,
// because arguments show in the list of processes.
package main

import (
	"flag"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gatehouse/gatehouse/examples/internal/serve"
	"github.com/gatehouse/gatehouse/examples/variant-b/portal/app"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8082", "address to listen on")
	self := flag.String("self", "http://localhost:8082", "address at which browsers reach this site")
	open := flag.String("open", "http://localhost:8080", "what takes the place of https://open.weixin.qq.com")
	api := flag.String("api", "http://localhost:8080", "what takes the place of https://api.weixin.qq.com")
	appID := flag.String("appid", "portal", "appid")
	flag.Parse()

	portal, err := app.New(app.Config{Open: *open, API: *api, Self: *self, AppID: *appID, Secret: os.Getenv("PORTAL_SECRET")})
	if err != nil {
		log.Fatal(err, " (the secret is read from PORTAL_SECRET)")
	}
	// The library uses this client, which would wait for ever.
	http.DefaultClient.Timeout = 10 * time.Second
	serve.Run(&http.Server{Addr: *listen, Handler: portal, ReadTimeout: 30 * time.Second})
}
