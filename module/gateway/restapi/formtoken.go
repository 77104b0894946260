package restapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// checkForm refuses a body that is a form with an access token in it (RFC 6750 section 2.2):
// the guard has judged the one in the header, and the upstream might take this one.
func checkForm(h http.Header, body []byte) *envelope.Refusal {
	for _, label := range h["Content-Type"] {
		media := strings.ToLower(strings.TrimSpace(label))
		if end := strings.IndexAny(media, ";, \t"); end >= 0 { // where PHP ends it
			media = media[:end]
		}
		switch media {
		case "application/x-www-form-urlencoded":
			if gateway.CarriesToken(string(body)) {
				return envelope.TokenInForm()
			}
		case "multipart/form-data":
			if refused := checkParts(label, body); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// checkParts refuses what upstreams read in different ways: PHP takes the first "boundary"
// in the line, whatever it is a part of, and does not look at the kind of a disposition.
func checkParts(label string, body []byte) *envelope.Refusal {
	unreadable := envelope.Refuse(http.StatusBadRequest, "The form could not be read.")
	_, params, err := mime.ParseMediaType(label)
	if err != nil || params["boundary"] == "" || strings.Count(strings.ToLower(label), "boundary") > 1 {
		return unreadable
	}
	for parts := multipart.NewReader(bytes.NewReader(body), params["boundary"]); ; {
		part, err := parts.NextRawPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return unreadable
		}
		name, ok := partName(part.Header["Content-Disposition"])
		switch {
		case !ok:
			return unreadable
		case gateway.CarriesToken(url.QueryEscape(name)):
			return envelope.TokenInForm()
		}
	}
}

// partName is the name that every upstream gives the part of a form with these dispositions.
func partName(dispositions []string) (name string, ok bool) {
	if len(dispositions) != 1 {
		return "", false
	}
	kind, params, err := mime.ParseMediaType(dispositions[0])
	if err != nil || kind != "form-data" || params["name"] == "" {
		return "", false
	}
	for param := range strings.SplitSeq(strings.ToLower(dispositions[0]), ";") {
		if strings.HasPrefix(strings.TrimSpace(param), "name*") { // for some instead of name, for others besides
			return "", false
		}
	}
	return params["name"], true
}
