package adminapi

// The states of a part and of all together.
const (
	StateOK       = "ok"
	StateDegraded = "degraded" // works, for a while or less well
	StateFailing  = "failing"
)

// The parts of a node that its readiness depends on.
const (
	PartStore       = "store"
	PartKeys        = "keys"
	PartRevocations = "revocations"
	PartLimiter     = "limiter"
)

// Readiness says whether a node can serve.
type Readiness struct {
	Ready bool   `json:"ready"`
	State string `json:"state"`
	Parts []Part `json:"parts"`
}

// Part is the state of something a node depends on.
type Part struct {
	Part    string `json:"part"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"` // what is wrong
	// StaleSeconds is how long ago the known revocations were complete, once they are known.
	StaleSeconds *float64 `json:"stale_seconds,omitempty"`
}

// Sum is the readiness of all parts: their worst state, and ready unless that is failing.
func Sum(parts ...Part) Readiness {
	r := Readiness{Ready: true, State: StateOK, Parts: parts}
	for _, p := range parts {
		switch {
		case p.State == StateFailing:
			r.Ready, r.State = false, StateFailing
		case p.State == StateDegraded && r.Ready:
			r.State = StateDegraded
		}
	}
	return r
}
