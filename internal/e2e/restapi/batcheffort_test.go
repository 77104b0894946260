package restapi

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// S04: what may be compared with a schema for one body is shared by the items of a batch.
func TestBatchIsCheckedWithTheEffortOfOneBody(t *testing.T) {
	g := harness.Prepare(t)
	u := harness.NewUpstream(t)
	values := strings.TrimSuffix(strings.Repeat("[0,9],", 100), ",")
	if err := os.WriteFile(filepath.Join(g.Dir, "schema.json"), []byte(`{"properties":{"points":{"items":{"enum":[`+values+`]}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	g.Start(t, worded("\n\tto "+u.Addr+"\n\tresource things {\n\t\tschema $DIR/schema.json\n\t}\n\t"))
	r := &rig{g, t, make(map[string]string)}
	u.Answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	points := "[" + strings.TrimSuffix(strings.Repeat("[0,9],", 1500), ",") + "]"
	item := func(id string) string {
		return `{"id":` + id + `,"op":"replace","path":"/points","value":` + points + `}`
	}
	for body, want := range map[string]int{
		"[" + item("1") + "]": http.StatusOK, "[" + item("1") + "," + item("2") + "]": http.StatusRequestEntityTooLarge,
	} {
		if p := r.do("writer", http.MethodPatch, "/things", body, "Content-Type", "application/json"); p.Status != want {
			t.Errorf("%d bytes: %d %s, want %d", len(body), p.Status, p.Body, want)
		}
	}
}
