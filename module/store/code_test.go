package store

import (
	"testing"
	"time"
)

func TestACodeIsUsedOnce(t *testing.T) {
	code := Code{State: CodeIssued, Client: "c"}
	used, ok := code.Redeem("first")
	if !ok || used.State != CodeUsed || used.Attempt != "first" || used.Client != "c" {
		t.Fatalf("Redeem = %+v, %v", used, ok)
	}
	if code.State != CodeIssued || code.Attempt != "" {
		t.Error("the record that was read must stay as it is: it is what Swap compares")
	}
	again, ok := used.Redeem("second")
	if ok || again.Attempt != "first" {
		t.Errorf("a second redemption = %+v, %v: a replay must not take over the first one's attempt", again, ok)
	}
}

func TestACodeInAnUnknownStateIsNotRedeemed(t *testing.T) {
	for _, state := range []CodeState{"", CodeUsed, CodeRevoked, "ISSUED", "pending"} {
		if _, ok := (Code{State: state}).Redeem("a"); ok {
			t.Errorf("a code in the state %q was redeemed", state)
		}
		if got, ok := (Code{State: state}).Revoke(); ok || got.State != state {
			t.Errorf("a code in the state %q was taken back", state)
		}
	}
}

func TestACodeThatWasTakenBackIsNotRedeemed(t *testing.T) {
	back, ok := Code{State: CodeIssued, Grant: "g"}.Revoke()
	if !ok || back.State != CodeRevoked || back.Grant != "g" {
		t.Fatalf("Revoke = %+v, %v", back, ok)
	}
}

func TestTheLifeOfACodeBeginsOnce(t *testing.T) {
	first := time.Unix(100, 0)
	given, ok := Code{State: CodeIssued}.Deliver(first)
	if !ok || !given.Expires.Equal(first) {
		t.Fatalf("Deliver = %+v, %v", given, ok)
	}
	if again, ok := given.Deliver(first.Add(time.Hour)); ok || !again.Expires.Equal(first) {
		t.Errorf("a second delivery = %+v, %v", again, ok)
	}
	for _, state := range []CodeState{"", CodeUsed, CodeRevoked} {
		if v, ok := (Code{State: state}).Deliver(first); ok || !v.Expires.IsZero() {
			t.Errorf("a code in the state %q was delivered", state)
		}
	}
}
