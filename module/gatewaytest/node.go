package gatewaytest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/audit"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/crossdevice"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/token"
	"github.com/gatehouse/gatehouse/module/internal/webui"
	"github.com/gatehouse/gatehouse/module/store"
)

type (
	// Client defines a stored client.
	Client = clientstore.Definition
	// Clients are the stored clients of a gateway.
	Clients = clientstore.Clients
	// Verifier verifies access tokens.
	Verifier = token.Verifier
	// Tickets are the requests that are confirmed on another device.
	Tickets = crossdevice.Tickets
	// Person is who confirms one.
	Person = crossdevice.Person
)

// ErrInvalid is Verifier's answer to a token that is not valid.
var ErrInvalid = token.ErrInvalid

// AuditNames are the names of all audit events.
func AuditNames() (names []string) {
	for _, name := range audit.Names {
		names = append(names, string(name))
	}
	return names
}

// Token makes a random value as long as the gateway's tokens.
func Token() string { return secret.Token() }

// ID makes a random identifier of the gateway's form.
func ID() string { return secret.ID() }

// QRImage draws the QR code of an address as the pages do, as PNG.
func QRImage(address string) ([]byte, error) { return webui.QRImage(address) }

// OpenSealed opens what a gateway with this master secret has sealed for a purpose.
func OpenSealed(master, purpose, sealed string, context []byte) ([]byte, error) {
	keys, err := secret.NewKeys([]byte(master))
	if err != nil {
		return nil, err
	}
	return keys.Open(purpose, sealed, context)
}

// NewClients opens the stored clients as another node does.
func NewClients(s store.Backend) (*Clients, error) {
	return clientstore.New(clientstore.Config{Store: s, Revocations: revoker{s}})
}

// revoker writes revocations as another node of the cluster does.
type revoker struct{ store.Backend }

func (o revoker) Revoke(ctx context.Context, r store.Revocation) error {
	value, err := store.Encode(&r)
	if err == nil {
		_, err = o.Create(ctx, store.Record{Key: r.Key(), Parent: store.RevocationParent, Value: value, Expires: time.Now().Add(time.Hour)})
	}
	if errors.Is(err, store.ErrExists) {
		return nil
	}
	return err
}

// NewTickets opens the requests that are confirmed on another device, as another node does.
// Close ends them.
func NewTickets(s store.Backend) (*Tickets, error) {
	return crossdevice.New(crossdevice.Config{Store: s})
}

// Tokens are the access tokens of a node: it issues, verifies and revokes them.
type Tokens struct {
	*Verifier
	issuer      *token.Issuer
	revocations *revocationlist.List
}

// NewTokens follows the store as another node does, until the test ends.
func NewTokens(t testing.TB, s store.Backend, master string) *Tokens {
	t.Helper()
	return NewTokensWithin(t, s, master, 0)
}

// NewTokensWithin is NewTokens for a node with room for so many revocations; 0 is the default.
func NewTokensWithin(t testing.TB, s store.Backend, master string, limit int) *Tokens {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	keys, err := secret.NewKeys([]byte(master))
	must(err)
	revocations, err := revocationlist.New(revocationlist.Config{Store: s, MaxTokenLife: func() time.Duration { return time.Hour }, Limit: limit})
	must(err)
	ring, err := keyring.New(keyring.Config{Store: s, Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, Revocations: revocations})
	must(err)
	issuer, err := token.NewIssuer(token.IssuerConfig{Ring: ring, Issuer: "https://id.test"})
	must(err)
	verifier, err := token.NewVerifier(token.VerifierConfig{Ring: ring, Revocations: revocations})
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = revocations.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	return &Tokens{verifier, issuer, revocations}
}

// Issue makes a token of a grant that lives for half an hour.
func (n *Tokens) Issue(ctx context.Context, grant string) (string, error) {
	return n.IssueTo(ctx, "c", grant)
}

// IssueTo is Issue for a client.
func (n *Tokens) IssueTo(ctx context.Context, client, grant string) (string, error) {
	return n.issuer.Issue(ctx, token.Access{
		Subject: "u", Client: client, Audience: []string{"https://api.test"}, Grant: grant, Expires: time.Now().Add(30 * time.Minute),
	})
}

// Revoke ends a grant.
func (n *Tokens) Revoke(ctx context.Context, grant string) error {
	return n.revocations.Revoke(ctx, store.Revocation{Of: store.RevokeGrant, Value: grant})
}

// RevokeOf ends a grant of a client.
func (n *Tokens) RevokeOf(ctx context.Context, client, grant string) error {
	return n.revocations.Revoke(ctx, store.Revocation{Of: store.RevokeGrant, Value: grant, Client: client})
}

// AwaitRevocations waits until all revocations were read once.
func (n *Tokens) AwaitRevocations(ctx context.Context) error { return n.revocations.WaitLoaded(ctx) }

// RevocationsHeld returns how many revocations are in memory.
func (n *Tokens) RevocationsHeld() int {
	held, _ := n.revocations.Held()
	return held
}

// NewVerifier is the verifier of another node. It has read all revocations when it is returned.
func NewVerifier(t testing.TB, s store.Backend, master string) *Verifier {
	t.Helper()
	n := NewTokens(t, s, master)
	if err := n.revocations.WaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	return n.Verifier
}
