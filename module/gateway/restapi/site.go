package restapi

import (
	"net"
	"net/http"
	"strings"
)

// site is the one that a client asked: the host without its port, behind the server where there
// are several. Sites with the same paths share the store, and an answer or a cursor of one must
// not be taken for that of another. The port that the client wrote says nothing: nodes and
// proxies may have their own.
func site(r *http.Request, server func() string) string {
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(host)
	if name := server(); name != "" {
		return name + "\x00" + host
	}
	return host
}
