package variantb

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// readParams reads the parameters of a request from the query and the form, because libraries
// use one, the other, or both. The used parameters must not have several values, because parsers
// disagree about which one counts. Other parameters are ignored.
func readParams(r *http.Request, used ...string) (httpx.Form, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		return httpx.Form{}, refuse(badMethod)
	}
	form, err := httpx.ReadMerged(r)
	if err != nil {
		return form, formRefusal(err)
	}
	for _, name := range used {
		if len(form.All(name)) > 1 {
			return form, &refusal{fault: ambiguous, field: name}
		}
	}
	return form, nil
}

// formRefusal says what is wrong with a form that could not be read.
func formRefusal(err error) error {
	e := (*httpx.FormError)(nil)
	if !errors.As(err, &e) {
		return refuse(malformed) // the connection broke, or was too slow
	}
	for _, f := range []*fault{tooSlow, tooLarge, tooLong, notAForm} {
		if f.status == e.Status {
			return refuse(f)
		}
	}
	return refuse(malformed)
}

// requireParams refuses a form that lacks one of the parameters that these faults are about.
func requireParams(form httpx.Form, absent ...*fault) error {
	for _, f := range absent {
		if form.Get(f.field) == "" {
			return refuse(f)
		}
	}
	return nil
}

// accessToken returns the access token from the parameter, or from the header field of RFC 6750
// section 2.1, which some libraries send instead.
func accessToken(r *http.Request, form httpx.Form) (string, error) {
	raw := form.Get("access_token")
	for _, value := range r.Header.Values("Authorization") {
		scheme, sent, _ := strings.Cut(value, " ")
		if sent = strings.Trim(sent, " "); !strings.EqualFold(scheme, "Bearer") || sent == "" {
			continue
		}
		if raw != "" && raw != sent {
			return "", &refusal{fault: ambiguous, field: "access_token"}
		}
		raw = sent
	}
	if raw == "" {
		return "", refuse(noAccessToken)
	}
	return raw, nil
}
