package guard

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// commonMethods is the Allow of a 405. Only the upstream knows which of them a path supports.
const commonMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// refusedMethod reports methods that never go upstream: TRACE and TRACK echo the
// request with its credentials, CONNECT is for proxies.
func refusedMethod(m string) bool {
	return m == http.MethodTrace || m == http.MethodConnect || m == "TRACK"
}

// wellFormedMethod refuses lower case: methods are case-sensitive (RFC 9110 section
// 9.1), but some upstreams run "delete" as DELETE after a rule for DELETE did not match.
func wellFormedMethod(m string) bool {
	for i := range len(m) {
		if c := m[i]; (c < 'A' || c > 'Z') && c != '-' && c != '_' && (c < '0' || c > '9') {
			return false
		}
	}
	return m != ""
}

func compileMethods(methods []string) ([]string, error) {
	if len(methods) == 0 || slices.Equal(methods, []string{"*"}) {
		return nil, nil
	}
	for _, m := range methods {
		if upper := strings.ToUpper(m); upper == "ANY" || upper == "ALL" { // words for it elsewhere
			return nil, fmt.Errorf("guard: %s is no method; remove it for every method, or write * alone", m)
		}
		if !wellFormedMethod(m) {
			return nil, fmt.Errorf("guard: %q is no method; write it in capitals, or * alone for all", m)
		}
		if refusedMethod(m) {
			return nil, fmt.Errorf("guard: %s is never passed on", m)
		}
	}
	return methods, nil
}
