package qrlogin

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// device plays the device without a keyboard: it begins, and asks for its token.
func (p *portal) device(asked string) string {
	q := url.Values{"client_id": {"tv"}, "scope": {"read"}}
	path := "/device_authorization"
	if asked == "device:redeem" {
		path = "/token"
		q = url.Values{"client_id": {"tv"}, "grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {p.deviceCode}}
	}
	res, err := p.client.PostForm(p.issuer+path, q)
	if err != nil {
		p.t.Error(err)
		return ""
	}
	defer res.Body.Close()
	var a struct {
		Verification string `json:"verification_uri_complete"`
		DeviceCode   string `json:"device_code"`
		AccessToken  string `json:"access_token"`
		Error        any    `json:"error"`
	}
	if err := json.NewDecoder(res.Body).Decode(&a); err != nil {
		p.t.Error(err)
		return ""
	}
	switch code, _ := a.Error.(string); {
	case code != "":
		return "answer:" + code
	case path == "/token" && res.StatusCode == http.StatusOK && a.AccessToken != "":
		return "answer:issued"
	case path == "/token":
		p.t.Errorf("no token and no error: %d", res.StatusCode)
		return ""
	}
	p.deviceCode = a.DeviceCode
	return a.Verification
}
