package handler

import (
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// unreadBodyTime is how long a refused client may go on sending its body. It is as long as
// bodies of the authorization server may take.
const unreadBodyTime = 10 * time.Second

// LeaveBody bounds how long the body of a refused request may take to arrive. Nothing uses
// it, but net/http reads it before it answers, and a client that sends a byte now and then
// would keep the connection open meanwhile.
func LeaveBody(w http.ResponseWriter, r *http.Request) { httpx.LeaveBody(w, r, unreadBodyTime) }

// CloseWhenExiting asks the client to close its connection after this answer if the process is
// about to end: a request that is sent just when the server closes an idle connection is
// reset, and its client cannot know whether it was executed. HTTP/2 and HTTP/3 have messages
// of their own for that, which Caddy sends. A reload keeps connections.
func CloseWhenExiting(w http.ResponseWriter, r *http.Request) {
	if caddy.Exiting() && r.ProtoMajor == 1 && r.Header.Get("Upgrade") == "" {
		w.Header().Set("Connection", "close")
	}
}
