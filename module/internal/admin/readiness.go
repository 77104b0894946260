package admin

import (
	"net/http"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
)

// getReadiness returns the readiness with what is wrong.
func getReadiness(c *call) (any, error) {
	found := c.Readiness(c.r.Context())
	return reply{status: ReadyStatus(c.w, found), body: found}, nil
}

// ReadyStatus is the status of an answer about readiness. It sets Retry-After with a 503.
func ReadyStatus(w http.ResponseWriter, found adminapi.Readiness) int {
	if found.Ready {
		return http.StatusOK
	}
	w.Header().Set("Retry-After", "1")
	return http.StatusServiceUnavailable
}
