package gateway

import (
	"cmp"
	"context"
	"runtime"

	"github.com/gatehouse/gatehouse/module/authserver"
	"github.com/gatehouse/gatehouse/module/directory/password"
	"github.com/gatehouse/gatehouse/module/gateway/adminapi"
)

// hashing is where passwords are hashed while configurations want as many at a time. It
// starts nothing by itself.
type hashing struct{ *password.Elsewhere }

func (a *App) holdHashing() (*hashing, error) {
	// It is set higher for directories that are far away, and more processes than
	// processors hash no faster.
	most := min(cmp.Or(a.Protect.HashConcurrency, authserver.HashConcurrency()), runtime.GOMAXPROCS(0))
	return hold(&a.held, hashings, most, func() (*hashing, error) {
		e, err := password.OpenElsewhere(most, logger("hashing"))
		return &hashing{e}, err
	})
}

// Destruct ends the processes. A request that comes later still is served without.
func (h *hashing) Destruct() error {
	h.Close()
	return nil
}

// lookAtHashing reports that sign-ins hold other requests up.
func lookAtHashing(_ context.Context, a *App) []adminapi.Finding {
	const check = "hashing"
	if err := a.hashing.Fault(); err != nil {
		return []adminapi.Finding{adminapi.Warned(check, "let the gateway start its own program again: a limit on processes or a policy against it may be in the way",
			"passwords are hashed in the gateway's own process, which makes other requests wait while people sign in: %v", err)}
	}
	return []adminapi.Finding{adminapi.Fine(check, "no password had to be hashed in the gateway's own process")}
}
