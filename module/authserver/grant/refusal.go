package grant

import "github.com/gatehouse/gatehouse/module/oauth"

// Why is the reason for which a code or refresh token is not taken. OAuth tells none of
// them but by invalid_grant; other dialects have a number for each.
type Why string

// The reasons.
const (
	Unknown  Why = "unknown" // none of ours, or of another dialect
	Foreign  Why = "foreign" // another client's, or of an earlier one of the same id
	Expired  Why = "expired" // its time is up; for a refresh token of OAuth also: revoked
	Used     Why = "used"    // used up before: what it began is dead
	Revoked  Why = "revoked" // taken back by the user, or the user is gone
	Redirect Why = "redirect_uri"
	Verifier Why = "code_verifier"
	Rights   Why = "rights" // user or client may no longer have what was granted
)

// Refusal is the refusal of a code or refresh token. It unwraps to the *oauth.Error that
// OAuth answers.
type Refusal struct {
	Why    Why
	answer *oauth.Error
}

func (r *Refusal) Error() string { return r.answer.Error() }

func (r *Refusal) Unwrap() error { return r.answer }

var errGone = oauth.E(oauth.InvalidGrant, "the refresh token or code is unknown, expired, used or revoked")

// gone is a refusal whose reason OAuth does not tell: whoever tries codes must not learn
// which of them there are.
func gone(why Why) error { return &Refusal{why, errGone} }

func refused(why Why, description string) error {
	return &Refusal{why, oauth.E(oauth.InvalidGrant, description)}
}

var (
	errRedirect = refused(Redirect, "redirect_uri is not the one of the authorization request")
	errVerifier = refused(Verifier, "code_verifier does not match the code_challenge of the authorization request")
	errNoScope  = refused(Rights, "the client may no longer have any of the granted scopes")
	errNoUser   = refused(Rights, "the user may no longer sign in")
)
