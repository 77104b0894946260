package audit

import "context"

// Name is the name of an event. It never changes, because people filter by it.
type Name string

// The events. An event is recorded when its effect is certain, once per effect.
const (
	SignIn          Name = "sign_in"          // a user signed in
	SignInFailed    Name = "sign_in_failed"   // Reason: refused, locked, limited
	Lockout         Name = "lockout"          // a user, or a name that is no user's, was locked by failed attempts
	SignOut         Name = "sign_out"         // a browser signed out
	SignOutAll      Name = "sign_out_all"     // every session and grant of a user ended
	Consent         Name = "consent"          // a user allowed a client scopes
	ConsentDenied   Name = "consent_denied"   // a user did not
	ConsentRevoked  Name = "consent_revoked"  // a user took back what a client was allowed
	TicketScanned   Name = "ticket_scanned"   // a user scanned or typed a code of another device; Reason: scan, device
	TicketConfirmed Name = "ticket_confirmed" // and confirmed what it asks for; Reason: scan, device
	TicketDenied    Name = "ticket_denied"    // or did not; Reason: scan, device, number (a wrong one)
	Issue           Name = "issue"            // tokens were issued; Reason: the grant type
	CodeReuse       Name = "code_reuse"       // a used code was presented: its grant is dead
	RefreshReuse    Name = "refresh_reuse"    // a replaced refresh token was presented: its grant is dead
	Revoke          Name = "revoke"           // a client revoked a token
	ClientAuth      Name = "client_auth"      // a client failed to authenticate
	DeprecatedGrant Name = "deprecated_grant" // a grant with an end date was used; Reason: which
	Registered      Name = "registered"       // a client registered itself, changed or removed its registration; Reason: created, updated, deleted
	UserChanged     Name = "user_changed"     // Reason: created, locked, unlocked, password, updated, deleted
	ClientChanged   Name = "client_changed"   // Reason: created, secret_rotated, updated, deleted
	GrantRevoked    Name = "grant_revoked"    // an administrator revoked a grant
	GrantEvicted    Name = "grant_evicted"    // a grant ended since its user got a new one and had too many at the client
	KeyRotated      Name = "key_rotated"      // a signing key was made; Reason: schedule, command, first
	KeyRevoked      Name = "key_revoked"      // a signing key was revoked
	JobAccepted     Name = "job_accepted"     // an application made a job; Reason: its queue
	JobEnded        Name = "job_ended"        // it ended; Reason: succeeded, failed, interrupted, cancelled
	FileForbidden   Name = "file_forbidden"   // a job was to fetch a file from an address that is not public; Reason: its queue
	ConfigChanged   Name = "config_changed"   // a configuration was loaded
)

// Names lists every event.
var Names = []Name{
	SignIn, SignInFailed, Lockout, SignOut, SignOutAll, Consent, ConsentDenied, ConsentRevoked,
	TicketScanned, TicketConfirmed, TicketDenied, Issue, CodeReuse,
	RefreshReuse, Revoke, ClientAuth, DeprecatedGrant, Registered, UserChanged, ClientChanged, GrantRevoked, GrantEvicted,
	KeyRotated, KeyRevoked, JobAccepted, JobEnded, FileForbidden, ConfigChanged,
}

// Event is one line of the trail. Only known fields are set, and none is a credential. The sink
// adds time, node, address and request id.
type Event struct {
	Name    Name
	Client  string   // client_id; of a client that nobody knows a keyed digest of what was sent: it may be a secret
	Subject string   // the user's ID; for a failed sign-in that of whom the name leads to, if anybody
	User    string   // otherwise a keyed digest of the name that was typed: it may be a password
	Grant   string   // the grant family
	Scopes  []string // what it was about
	Key     string   // kid of a signing key
	Job     string   // the ID of a job that none but its owner sees
	Reason  string   // one of a few fixed words, see the names
}

// Sink records events. Record MUST be safe for concurrent use and MUST NOT block on anything slow.
// ctx is that of the request, or a descendant without its cancellation, from which the sink takes
// address and request id.
type Sink interface {
	Record(ctx context.Context, e Event)
}

// Discard is a sink that keeps nothing.
type Discard struct{}

// Record implements [Sink].
func (Discard) Record(context.Context, Event) {}
