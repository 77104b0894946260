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

// NewVerifier follows the store as another node does, until the test ends. It has read all
// revocations when it is returned.
func NewVerifier(t testing.TB, s store.Backend, master string) *Verifier {
	t.Helper()
	keys, err := secret.NewKeys([]byte(master))
	if err != nil {
		t.Fatal(err)
	}
	revocations, err := revocationlist.New(revocationlist.Config{Store: s, MaxTokenLife: func() time.Duration { return time.Hour }})
	if err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.New(keyring.Config{Store: s, Keys: func(context.Context) (*secret.Keys, error) { return keys, nil }, Revocations: revocations})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = revocations.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	v, err := token.NewVerifier(token.VerifierConfig{Ring: ring, Revocations: revocations})
	if err != nil {
		t.Fatal(err)
	}
	if err := revocations.WaitLoaded(t.Context()); err != nil {
		t.Fatal(err)
	}
	return v
}
