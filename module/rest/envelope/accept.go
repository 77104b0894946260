package envelope

import (
	"strconv"
	"strings"
)

// prefersProblem reports whether Accept (RFC 9110 section 12.5.1) ranks application/problem+json
// above application/json. If their qualities are equal, it does so only if it names the former
// explicitly and matches the latter at most by a wildcard.
func prefersProblem(accept []string) bool {
	var problem, plain, wild float64
	named := false
	for _, line := range accept {
		for item := range strings.SplitSeq(line, ",") {
			media, params, _ := strings.Cut(item, ";")
			q := quality(params)
			switch strings.ToLower(strings.TrimSpace(media)) {
			case "application/problem+json":
				problem = max(problem, q)
			case "application/json":
				plain, named = max(plain, q), true
			case "application/*", "*/*":
				wild = max(wild, q)
			}
		}
	}
	if named {
		return problem > plain
	}
	return problem > 0 && problem >= wild
}

func quality(params string) float64 {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}
