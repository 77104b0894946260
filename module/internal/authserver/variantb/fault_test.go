package variantb

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEveryVariantBFailureHasBothForms(t *testing.T) {
	// status, word and number of each, as the documents of the dialect have them.
	want := map[*fault]string{
		noAppID: "400 invalid_parameter appid 41002", noSecret: "400 invalid_parameter secret 41004", noCode: "400 invalid_parameter code 41008",
		noRefreshToken: "400 invalid_parameter refresh_token 41003", noOpenID: "400 invalid_parameter openid 41009",
		noAccessToken: "401 invalid_token access_token 41001", badGrantType: "400 unsupported_grant_type grant_type 40002",
		unknownAppID: "401 invalid_client appid 40013", wrongSecret: "401 invalid_client secret 40125",
		badCode: "400 invalid_grant code 40029", expiredCode: "400 invalid_grant code 42003", usedCode: "400 invalid_grant code 40163",
		badRedirect: "400 invalid_grant redirect_uri 40029", badVerifier: "400 invalid_grant code_verifier 40029",
		badRefreshToken: "400 invalid_grant refresh_token 40030", expiredRefreshToken: "400 invalid_grant refresh_token 42002",
		badAccessToken: "401 invalid_token access_token 40001", expiredAccessToken: "401 invalid_token access_token 42001",
		foreignOpenID: "403 forbidden openid 40003", noScope: "403 insufficient_scope - 48001",
		ambiguous: "400 invalid_parameter - 40035", malformed: "400 invalid_parameter - 40035", tooSlow: "408 invalid_parameter - 40035",
		tooLarge: "413 invalid_parameter - 40035",
		tooLong:  "414 invalid_parameter - 40035",
		notAForm: "415 invalid_parameter - 40035", noSuchAddress: "404 not_found - 40066", badMethod: "405 method_not_allowed - 43002", plaintext: "400 invalid_request - 43003", tooOften: "429 rate_limited - 45009",
		unavailable: "503 unavailable - -1", ourFault: "500 server_error - -1",
	}
	for _, f := range faults {
		w := httptest.NewRecorder()
		(&refusal{fault: f}).write(w)
		var body struct {
			Error struct {
				Code, Message string
				Field         *string
			}
			Errcode *int
			Errmsg  string
		}
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || body.Errcode == nil || *body.Errcode == 0 {
			t.Fatalf("%s: %v %s", f.message, err, w.Body)
		}
		field := "-"
		if body.Error.Field != nil {
			field = *body.Error.Field
		}
		if !strings.Contains(w.Body.String(), `"field":`) {
			t.Errorf("%s: without a field: %s", f.message, w.Body)
		}
		if got := fmt.Sprint(w.Code, " ", body.Error.Code, " ", field, " ", *body.Errcode); got != want[f] {
			t.Errorf("%s: %s, want %s", f.message, got, want[f])
		}
		if body.Error.Message == "" || body.Errmsg == "" || body.Errmsg == "ok" {
			t.Errorf("%s: without words: %s", f.message, w.Body)
		}
		h := w.Header()
		if h.Get("Content-Type") != jsonType || h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", f.message, h)
		}
	}
	if len(want) != len(faults) {
		t.Errorf("%d of %d faults are compared", len(want), len(faults))
	}
}

// Libraries take the mere name of errcode in an answer for a failure.
func TestVariantBSuccessHasNoErrcode(t *testing.T) {
	for _, v := range []any{tokenAnswer{}, profile{Privilege: []string{}}} {
		w := httptest.NewRecorder()
		writeJSON(w, http.StatusOK, jsonType, v)
		if body := w.Body.String(); strings.Contains(body, "errcode") || strings.Contains(body, "errmsg") || strings.Contains(body, "null") {
			t.Error(body)
		}
	}
}
