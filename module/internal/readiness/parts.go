// Package readiness determines whether a node can serve. It probes the store, rarely enough that
// health checks are no load on it, and reports the state of each part of the node.
package readiness

import (
	"time"

	"github.com/gatehouse/gatehouse/module/internal/admin"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
)

// Sum returns the readiness of a node. limiter says why the limiter cannot reach its counts, or
// is nil. Each api_limit decides what that means for requests; only if one of them refuses them
// (limitsClose) is the node not ready.
func Sum(found Result, revocations *revocationlist.List, limiter error, limitsClose bool) adminapi.Readiness {
	stored := partOf(adminapi.PartStore, found.Store)
	if found.Store == nil && found.Degraded != nil {
		stored.State, stored.Message = adminapi.StateDegraded, "it answers, but: "+admin.WithoutCredentials(found.Degraded)
	}
	limits := partOf(adminapi.PartLimiter, limiter)
	if limiter != nil && !limitsClose {
		limits.State = adminapi.StateDegraded
	}
	return adminapi.Sum(stored, partOf(adminapi.PartKeys, found.Keys), revocationPart(revocations), limits)
}

func partOf(name string, err error) adminapi.Part {
	if err != nil {
		return adminapi.Part{Part: name, State: adminapi.StateFailing, Message: admin.WithoutCredentials(err)}
	}
	return adminapi.Part{Part: name, State: adminapi.StateOK}
}

// revocationPart fails if guards respond with 503 because they lost the revocation feed.
func revocationPart(revocations *revocationlist.List) adminapi.Part {
	_, err := revocations.Revoked(revocationlist.Token{})
	p := partOf(adminapi.PartRevocations, err)
	since, known := revocations.Staleness()
	if known {
		seconds := since.Round(time.Millisecond).Seconds()
		p.StaleSeconds = &seconds
	}
	if err == nil && since > 0 {
		p.State, p.Message = adminapi.StateDegraded, "the feed is lost; what was known serves for a while"
	}
	return p
}
