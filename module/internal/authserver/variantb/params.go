package variantb

import (
	"errors"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/internal/httpx"
)

// readParams reads the parameters of a request, wherever they are: libraries send them in the
// query, in a form, or some in each. The used ones may have one value only, because parsers
// disagree about which of several counts. Others are ignored.
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
			return form, &refusal{failure: ambiguous, field: name}
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
	switch e.Status {
	case http.StatusRequestTimeout:
		return refuse(tooSlow)
	case http.StatusRequestEntityTooLarge:
		return refuse(tooLarge)
	case http.StatusRequestURITooLong:
		return refuse(tooLong)
	case http.StatusUnsupportedMediaType:
		return refuse(notAForm)
	}
	return refuse(malformed)
}

// needed is a parameter that must be there, and the failure if it is not.
type needed struct {
	name   string
	absent failure
}

// requireParams refuses a form in which one of these is missing.
func requireParams(form httpx.Form, all ...needed) error {
	for _, n := range all {
		if form.Get(n.name) == "" {
			return refuse(n.absent)
		}
	}
	return nil
}

// accessToken finds the access token: the parameter, or the header of RFC 6750 section
// 2.1, which some libraries send instead.
func accessToken(r *http.Request, form httpx.Form) (string, error) {
	raw := form.Get("access_token")
	for _, value := range r.Header.Values("Authorization") {
		scheme, sent, _ := strings.Cut(value, " ")
		if sent = strings.Trim(sent, " "); !strings.EqualFold(scheme, "Bearer") || sent == "" {
			continue
		}
		if raw != "" && raw != sent {
			return "", &refusal{failure: ambiguous, field: "access_token"}
		}
		raw = sent
	}
	if raw == "" {
		return "", refuse(noAccessToken)
	}
	return raw, nil
}
