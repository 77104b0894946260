package cli

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/redistest"
)

// The store has signing keys that were encrypted with another secret than the configured one.
func TestDoctorFindsASecretThatIsNotThatOfTheKeys(t *testing.T) {
	redis := redistest.Start(t)
	t.Setenv("GATEHOUSE_SECRET", "a-secret-0123456789-0123456789-0123456789")
	t.Setenv("GATEHOUSE_SECRET_NEW", "another-secret-0123456789-0123456789-01234")
	g := prepare(t)
	text := onRedis(redis.URL())
	g.Start(t, text)
	if status, _ := clientToken(t, g, machine); status != http.StatusOK {
		t.Fatal(status)
	}

	renewed := strings.Replace(text, "secret {env.GATEHOUSE_SECRET}", "secret {env.GATEHOUSE_SECRET_NEW}", 1)
	both := strings.Replace(text, "secret {env.GATEHOUSE_SECRET}", "secret {env.GATEHOUSE_SECRET_NEW} {env.GATEHOUSE_SECRET}", 1)
	failed := func(all []placedFinding) bool {
		for _, f := range all {
			if f.Grade == "fail" && f.Check == "keys" {
				return strings.HasPrefix(f.Where, "Caddyfile:")
			}
		}
		return false
	}
	if code, all := checkedFile(t, g, renewed); code != 1 || !failed(all) {
		t.Errorf("another secret: exit %d: %+v", code, all)
	}
	if _, all := checkedFile(t, g, both); failed(all) {
		t.Errorf("the old secret is the second one: %+v", all)
	}
	if _, all := checkedFile(t, g, strings.ReplaceAll(renewed, "GATEHOUSE_SECRET_NEW", "NOBODY_SETS_THIS")); failed(all) {
		t.Errorf("a secret that is not known here: %+v", all)
	}

	g.Load(t, both)
	if _, all := examined(t, g); !has(all, "ok", "keys", "signs since") {
		t.Errorf("%+v", all)
	}
	g.Load(t, renewed)
	if status, _ := clientToken(t, g, machine); status != http.StatusServiceUnavailable {
		t.Errorf("a token without a key to sign it: %d", status)
	}
	if code, all := examined(t, g); code != 1 || !has(all, "fail", "keys", "cannot sign") || has(all, "ok", "keys", "") {
		t.Errorf("exit %d: %+v", code, all)
	}
}
