package doctor

import (
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// nodes looks for what several nodes must share.
func (p configuration) nodes() (out adminapi.Findings) {
	const check = "nodes"
	kept, counted := explain.ModuleName(p.App.StoreRaw, "bolt"), explain.ModuleName(p.App.LimiterRaw, "memory")
	limited := false
	for _, s := range p.Servers {
		limited = limited || s.Has("gatehouse_limit")
	}
	switch {
	case kept == "bolt" && counted == "memory":
		// one node
	case limited && counted == "memory":
		out.Warn(check, "write `limiter "+kept+"` into the global option gatehouse if several nodes serve: alone it shares the store's connection",
			"state is kept in %s and requests are counted by each node for itself: several nodes admit so many times the limit", kept)
	case kept == "bolt":
		out.Warn(check, "write `store "+counted+" ...` if several nodes serve", "requests are counted in %s and state is kept in a file of this machine: several nodes know different users, grants and keys", counted)
	default:
		out.OK(check, "several nodes can serve: state is kept in %s, requests are counted in %s", kept, counted)
	}
	return out
}
