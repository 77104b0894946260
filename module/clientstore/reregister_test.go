package clientstore_test

import (
	"slices"
	"testing"

	"github.com/gatehouse/gatehouse/module/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/secret"
)

// An update by the client itself must not undo what an operator narrowed, nor keep what
// was given to what it said of itself before.
func TestAClientDoesNotUndoWhatAnOperatorNarrowed(t *testing.T) {
	r := newRig(t)
	c, _, err := r.Register(t.Context(), registration(), secret.Digest("access"), 10)
	if err != nil {
		t.Fatal(err)
	}
	err = r.Update(t.Context(), c.ID, func(d *clientstore.Definition) error {
		d.Audience, d.Owner, d.Trusted, d.Introspect = []string{"https://one.example"}, "ops", true, true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err = r.Reregister(t.Context(), c.ID, registration())
	if err != nil || !slices.Equal(c.Audience, []string{"https://one.example"}) || c.Owner != "ops" || c.Trusted || c.Introspect {
		t.Errorf("%+v, %v", c, err)
	}
}
