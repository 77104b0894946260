package doctor

import (
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/cli/explain"
)

// pollHangs is how long a poll of Variant B may take, with some time on the way.
const pollHangs = 30 * time.Second

// polls looks for what cuts polls that hang.
func (p configuration) polls() (out adminapi.Findings) {
	if !p.variantB {
		return nil
	}
	for _, name := range explain.SortedKeys(p.Servers) {
		s := p.Servers[name]
		if limit := time.Duration(s.WriteTimeout); s.Has("gatehouse_server") && limit > 0 && limit < pollHangs {
			out.Warn("polls", "make it 30s or more, in `servers { timeouts { write ... } }`, and the timeouts of proxies in front likewise",
				"server %s ends answers after %v: polls of variant_b clients hang up to 25s and are cut", name, limit)
		}
	}
	return out
}
