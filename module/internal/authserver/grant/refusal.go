package grant

import "github.com/gatehouse/gatehouse/module/oauth"

// Why is the reason for which a code or refresh token is refused. OAuth answers invalid_grant for all of them; other
// dialects have a number for each.
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

// Refusal is the refusal of a code or refresh token. It unwraps to the *oauth.Error that OAuth answers.
type Refusal struct {
	Why    Why
	answer *oauth.Error
}

func (r *Refusal) Error() string { return r.answer.Error() }

func (r *Refusal) Unwrap() error { return r.answer }

// because returns a copy with a cause for the log.
func (r *Refusal) because(cause error) *Refusal {
	return &Refusal{r.Why, r.answer.WithCause(cause)}
}

// gone refuses what was presented. Only Used has its own text: only the client that could have redeemed the code or
// token gets that far, because client, redirect_uri and code_verifier, or the MAC, are checked before. The other
// reasons share a text, so that nobody can find out by trial which codes exist.
func (f *Families) gone(why Why) *Refusal {
	if why == Used {
		return refused(why, f.presents+" was used before: the tokens issued for it are revoked")
	}
	return refused(why, f.presents+" is unknown, expired, revoked or another client's")
}

func refused(why Why, description string) *Refusal {
	return &Refusal{why, oauth.E(oauth.InvalidGrant, description)}
}

var (
	errRedirect        = refused(Redirect, "redirect_uri differs from that of the authorization request")
	errNoRedirect      = refused(Redirect, "redirect_uri is missing: it may be absent only where the code was issued with PKCE")
	errVerifier        = refused(Verifier, "code_verifier does not match the code_challenge of the authorization request")
	errVerifierForm    = refused(Verifier, "code_verifier is malformed: it must have 43 to 128 characters, each one of A-Z a-z 0-9 - . _ ~")
	errNoVerifier      = refused(Verifier, "code_verifier is missing: the code was issued with PKCE")
	errUnaskedVerifier = refused(Verifier, "code_verifier was sent, but the authorization request had no code_challenge")
	errNoScope         = refused(Rights, "the client may no longer have any of the granted scopes")
	errNoUser          = refused(Rights, "the user may no longer sign in")
)
