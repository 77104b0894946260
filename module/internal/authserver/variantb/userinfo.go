package variantb

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/oauth"
)

// Auth is /sns/auth. It reports whether an access token is valid, its user may sign in, and the
// openid is that user's. Its success is the only one with an errcode.
func (e *Endpoints) Auth(w http.ResponseWriter, r *http.Request) {
	if _, err := e.verifyAccessToken(r); err != nil {
		e.writeError(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, jsonType, struct {
		Errcode int    `json:"errcode"`
		Errmsg  string `json:"errmsg"`
	}{0, "ok"})
}

// Userinfo is /sns/userinfo, which describes the user of an access token.
func (e *Endpoints) Userinfo(w http.ResponseWriter, r *http.Request) {
	client, answer, err := e.userinfo(r)
	if err != nil {
		e.writeError(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, contentType(client.UserinfoContentType, r.UserAgent()), answer)
}

func (e *Endpoints) userinfo(r *http.Request) (*oauth.Client, profile, error) {
	of, err := e.verifyAccessToken(r)
	if err != nil {
		return nil, profile{}, err
	}
	if !slices.Contains(of.Scopes, oauth.SNSLogin) && !slices.Contains(of.Scopes, oauth.SNSUserinfo) {
		return nil, profile{}, refuse(noScope)
	}
	unionid, err := e.Names.unionID(r.Context(), of.client, of.Subject)
	if err != nil {
		return nil, profile{}, oauth.Unavailable(err)
	}
	return of.client, newProfile(of.Pairwise, unionid, of.user), nil
}

// living is the content of a valid access token, with its client and user.
type living struct {
	*token.Access
	client *oauth.Client
	user   directory.User
}

// verifyAccessToken verifies the access token of a request. Tokens of OAuth clients, which have no
// pairwise name, are not valid in this dialect.
func (e *Endpoints) verifyAccessToken(r *http.Request) (of living, err error) {
	form, err := readParams(r, "access_token", "openid")
	if err != nil {
		return of, err
	}
	raw, err := accessToken(r, form)
	if err == nil {
		err = requireParams(form, noOpenID)
	}
	if err != nil {
		return of, err
	}
	of.Access, err = e.Verify(r.Context(), raw)
	switch {
	case errors.Is(err, token.ErrExpired):
		return of, refuse(expiredAccessToken)
	case errors.Is(err, token.ErrInvalid):
		return of, refuse(badAccessToken)
	case err != nil:
		return of, oauth.Unavailable(err)
	case of.Issuer != e.Issuer || of.Pairwise == "":
		return of, refuse(badAccessToken)
	case of.Pairwise != form.Get("openid"):
		return of, refuse(foreignOpenID)
	}
	var known bool
	of.client, known, err = e.ClientAuth.FindClient(r.Context(), of.Client)
	switch {
	case err != nil:
		return of, oauth.Unavailable(err)
	case !known || !of.client.VariantB:
		return of, refuse(badAccessToken)
	}
	of.user, known, err = e.Directory.Lookup(r.Context(), of.Subject)
	switch {
	case err != nil:
		return of, oauth.Unavailable(err)
	case !known || of.user.Locked: // describing a locked user would be as good as signing them in
		return of, refuse(badAccessToken)
	}
	return of, nil
}

// profile is the response of /sns/userinfo. Every member is always present: libraries in typed
// languages refuse the response if one is missing or null.
type profile struct {
	OpenID     string   `json:"openid"`
	Nickname   string   `json:"nickname"`
	Sex        int      `json:"sex"` // 1 male, 2 female, 0 not known
	Province   string   `json:"province"`
	City       string   `json:"city"`
	Country    string   `json:"country"`
	HeadImgURL string   `json:"headimgurl"`
	Privilege  []string `json:"privilege"`
	UnionID    string   `json:"unionid"`
}

func newProfile(openid, unionid string, u directory.User) profile {
	p := profile{OpenID: openid, UnionID: unionid, HeadImgURL: u.Picture, Privilege: []string{}}
	for _, name := range []string{u.Nickname, u.Name, u.Username} {
		if p.Nickname == "" {
			p.Nickname = name
		}
	}
	gender, _ := u.Claims["gender"].(string)
	p.Sex = sexes[strings.ToLower(gender)]
	// Only these parts of an address are passed on, and never the street.
	if address, ok := u.Claims["address"].(map[string]any); ok {
		p.Province, _ = address["region"].(string)
		p.City, _ = address["locality"].(string)
		p.Country, _ = address["country"].(string)
	}
	return p
}

// sexes maps the values of gender (OpenID Connect Core section 5.1) to numbers.
var sexes = map[string]int{"male": 1, "female": 2}

// textLibraries are the User-Agent prefixes of sign-in libraries that expect a bare text/plain, read it as ISO 8859-1
// and repair the names themselves: from application/json they get broken names or an exception. Only names of such
// libraries belong here, never that of a general HTTP client such as python-requests: every other program that uses
// the client would then read broken names.
var textLibraries = []string{"social-auth-"}

// contentType returns the configured content type of userinfo or, for auto, the one that the library
// needs.
func contentType(configured, userAgent string) string {
	switch configured {
	case "json":
		return jsonType
	case "text":
		return textType
	}
	for _, name := range textLibraries {
		if strings.HasPrefix(userAgent, name) {
			return textType
		}
	}
	return jsonType
}
