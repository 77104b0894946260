package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"golang.org/x/oauth2"
)

// maxAnswer is the most that is read of an answer of the API.
const maxAnswer = 1 << 20

// profile is what the API knows of who calls.
type profile struct {
	Subject string `json:"subject"`
}

// claims are what the issuer tells about the user (OpenID Connect Core section 5.3.2).
type claims struct {
	Subject string `json:"sub"`
	Name    string `json:"name"`
}

type articles struct {
	Data []struct {
		ID      json.Number `json:"id"`
		Title   string      `json:"title"`
		Created string      `json:"created_at"`
	} `json:"data"`
	Pagination struct {
		Total int `json:"total"`
	} `json:"pagination"`
}

// errSignedOut means that the token is worth nothing any more.
var errSignedOut = errors.New("signed out")

// busy means that the gateway's limit was met.
type busy struct{ retryAfter string }

func (busy) Error() string { return "too many requests" }

type api struct {
	base   string
	client *http.Client
}

// get reads one document with the token of the source, which refreshes it if need be.
func (a api) get(ctx context.Context, tokens oauth2.TokenSource, path string, into any) error {
	tok, err := tokens.Token()
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
		return errSignedOut
	}
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return err
	}
	tok.SetAuthHeader(req)
	resp, err := a.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into)
	case http.StatusUnauthorized:
		return errSignedOut
	case http.StatusTooManyRequests:
		return busy{resp.Header.Get("Retry-After")}
	}
	return fmt.Errorf("%s answered %d", path, resp.StatusCode)
}
