package ratelimit_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/ratelimit"
)

// Each set is written as name=by for each of its policies, and lists what their places are. All and routes are common.
func TestPoliciesOfOneRequestShareAHashTag(t *testing.T) {
	for name, c := range map[string]struct{ sets, want []string }{
		"one policy":                       {[]string{"a=all"}, []string{"*"}},
		"two policies of one subject":      {[]string{"a=user b=user"}, []string{"* *"}},
		"two subjects":                     {[]string{"b=user a=client"}, []string{"a:60000 a:60000"}},
		"sets apart":                       {[]string{"a=user b=user", "c=ip d=client"}, []string{"* *", "c:60000 c:60000"}},
		"one name in two sets":             {[]string{"a=user", "a=client"}, []string{"*", "*"}},
		"a set that shares with mixed":     {[]string{"c=user b=user", "b=user a=client"}, []string{"a:60000 a:60000", "a:60000 a:60000"}},
		"the same in the other order":      {[]string{"b=user a=client", "c=user b=user"}, []string{"a:60000 a:60000", "a:60000 a:60000"}},
		"a third set joins two":            {[]string{"a=user b=client", "c=user d=user", "d=user b=user"}, []string{"a:60000 a:60000", "a:60000 a:60000", "a:60000 a:60000"}},
		"another window is another policy": {[]string{"a=user b=client", "a/1h=user"}, []string{"a:60000 a:60000", "*"}},
		"another limiter, too":             {[]string{"a=user b=client", "x.a=user"}, []string{"a:60000 a:60000", "*"}},
		"all beside a user":                {[]string{"b=user a=all"}, []string{"* a:60000"}},
		"all and routes beside a user":     {[]string{"c=route b=user a=all d=user"}, []string{"a:60000 * a:60000 *"}},
		"all alone":                        {[]string{"a=all", "b=route"}, []string{"*", "*"}},
		"all alone, and beside a user":     {[]string{"a=all", "b=user a=all"}, []string{"a:60000", "* a:60000"}},
		"all beside two subjects":          {[]string{"c=user b=client a=all"}, []string{"a:60000 a:60000 a:60000"}},
		"a user beside all, and a client":  {[]string{"b=user a=all", "b=user c=client"}, []string{"a:60000 a:60000", "a:60000 a:60000"}},
		"two sets with the same all":       {[]string{"b=user a=all", "c=client a=all"}, []string{"* a:60000", "* a:60000"}},
		"one name by all and by user":      {[]string{"a=all b=user", "a=user"}, []string{"a:60000 *", "a:60000"}},
		"the same with a third":            {[]string{"a=all b=user", "a=user b=user"}, []string{"a:60000 a:60000", "a:60000 a:60000"}},
		"all without routes":               {[]string{"a=all b=route"}, []string{"a:60000 a:60000"}},
		"placeholders":                     {[]string{"a={x} b={x}", "c={x} d={y}"}, []string{"* *", "c:60000 c:60000"}},
	} {
		var sets [][]ratelimit.Counted
		for _, text := range c.sets {
			var set []ratelimit.Counted
			for _, policy := range strings.Fields(text) {
				p := &ratelimit.Policy{Window: time.Minute, Place: "before"}
				var by string
				p.Name, by, _ = strings.Cut(policy, "=")
				if limiter, rest, ok := strings.Cut(p.Name, "."); ok {
					p.Limiter, p.Name = limiter, rest
				}
				if rest, ok := strings.CutSuffix(p.Name, "/1h"); ok {
					p.Name, p.Window = rest, time.Hour
				}
				set = append(set, ratelimit.Counted{Policy: p, By: by, Common: by == "all" || by == "route"})
			}
			sets = append(sets, set)
		}
		ratelimit.AssignPlaces(sets)
		var got []string
		for _, set := range sets {
			var places []string
			for _, counted := range set {
				places = append(places, counted.Policy.Place)
			}
			got = append(got, strings.Join(places, " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
