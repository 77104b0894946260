package gateway

import (
	"net/http"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// unreadBodyTime is how long a client that is refused may go on sending its body, as long
// as bodies of the authorization server may take.
const unreadBodyTime = 10 * time.Second

// LeaveBody bounds how long the body of a refused request may take to arrive. Nobody is
// going to use it, but net/http reads it before it answers, and a client that sends a byte
// now and then would keep the connection meanwhile.
func LeaveBody(w http.ResponseWriter, r *http.Request) { httpx.LeaveBody(w, r, unreadBodyTime) }
