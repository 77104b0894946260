package restapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/gatehouse/gatehouse/module/gateway"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

// checkForm refuses a body that is a form with an access token in it (RFC 6750 section 2.2):
// the guard has judged the one in the header, and the upstream might take this one.
func checkForm(h http.Header, body []byte) *envelope.Refusal {
	for _, label := range h["Content-Type"] {
		media, _, _ := strings.Cut(label, ";")
		switch strings.ToLower(strings.TrimSpace(media)) {
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

func checkParts(label string, body []byte) *envelope.Refusal {
	unreadable := envelope.Refuse(http.StatusBadRequest, "The form could not be read.")
	_, params, err := mime.ParseMediaType(label)
	if err != nil || params["boundary"] == "" {
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
		if name, _, _ := strings.Cut(part.FormName(), "["); strings.EqualFold(name, "access_token") {
			return envelope.TokenInForm()
		}
	}
}
