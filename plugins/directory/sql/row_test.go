package sql

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/directory/password"
)

func TestRowBecomesAUserByColumnNames(t *testing.T) {
	columns := []string{"ID", "username", "password_hash", "salt", "name", "nickname", "picture", "email", "phone", "locked", "Team", "level", "since", "score", "vip", "none"}
	values := []any{int64(7), []byte("zoe\u0308"), "hash", nil, "Zo\u00eb\x00", nil, "javascript:alert(1)", "zoe@example.com", uint64(15550100), []byte{1},
		"press", int64(3), time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), 1.5, true, nil}
	r, err := newRow(columns, values)
	if err != nil {
		t.Fatal(err)
	}
	want := directory.User{
		ID: "7", Username: "zo\u00eb", Email: "zoe@example.com", Phone: "15550100", Locked: true,
		Claims: map[string]any{"Team": "press", "level": int64(3), "since": "2020-01-02T03:04:05Z", "score": 1.5, "vip": true},
	}
	if diff := cmp.Diff(want, r.user); diff != "" || r.hash != "hash" || r.salt != "" {
		t.Errorf("hash %q, salt %q (-want +got):\n%s", r.hash, r.salt, diff)
	}
}

func TestMeaninglessValuesAreErrors(t *testing.T) {
	for name, c := range map[string]struct {
		column string
		value  any
	}{
		"a time for an id": {"id", time.Now()}, "no id": {"id", nil}, "no UTF-8": {"name", "\xff"}, "a text too long": {"email", strings.Repeat("x", maxText+1)},
		"maybe": {"locked", "maybe"}, "a list": {"groups", []string{"a"}}, "bytes for locked": {"locked", []byte{2}},
	} {
		columns, values := []string{"id", "username", c.column}, []any{"1", "ann", c.value}
		if c.column == "id" {
			columns, values = columns[1:], values[1:]
		}
		if _, err := newRow(columns, values); err == nil || strings.Contains(err.Error(), "maybe") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, yes := range []any{true, int64(1), int64(-1), uint64(2), "t", "Y", "yes", []byte("true"), []byte{1}} {
		if v, err := boolValue(yes); !v || err != nil {
			t.Errorf("%v is %t, %v", yes, v, err)
		}
	}
	for _, no := range []any{nil, false, int64(0), uint64(0), "", "f", "N", "no", []byte("0"), []byte{0}} {
		if v, err := boolValue(no); v || err != nil {
			t.Errorf("%v is %t, %v", no, v, err)
		}
	}
}

func TestClaimValueIsValidJSON(t *testing.T) {
	for value, want := range map[float64]string{1.5: "1.5", math.NaN(): `"NaN"`, math.Inf(1): `"+Inf"`} {
		v, err := claimValue(value)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%v becomes %s, %v", value, got, err)
		}
	}
}

func TestRowMustContainTheTypedName(t *testing.T) {
	r := &row{user: directory.User{Username: "Ann", Email: "ann@example.com", Phone: "5550100"}}
	for typed, want := range map[string]bool{
		"Ann": true, "ann": true, "ANN@example.com": true, "5550100": true, "\uff21nn": true,
		"\u00e1nn": false, "ann ": false, "5550100x": false, "": false, "an": false, "0": false,
	} {
		if r.isRowOf(typed) != want {
			t.Errorf("%q: %t", typed, !want)
		}
	}
}

func TestOnlyOutdatedHashesAreUpgraded(t *testing.T) {
	for hash, want := range map[string][2]bool{ // to argon2id, to bcrypt
		password.Usual().Dummy():                 {false, false},
		"$2y$10$" + strings.Repeat("s", 53):      {true, false},
		"$2y$09$" + strings.Repeat("s", 53):      {true, true},
		"{SSHA}LhKrkM9Fy+zlstjdD7Kv2s6QvhBzYWx0": {true, true},
	} {
		p, err := password.Parse(hash)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range []*settings{{upgrade: "x"}, {upgrade: "x", bcrypt: true}} {
			if s.needsUpgrade(p) != want[i] {
				t.Errorf("%.10s...: %t", hash, !want[i])
			}
		}
		if (&settings{}).needsUpgrade(p) {
			t.Error("without an upgrade it is upgraded")
		}
	}
}
