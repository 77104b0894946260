package operation

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/rest/responsewriter"
	"github.com/gatehouse/gatehouse/module/rest/envelope"
)

func TestLateErrorOfAHeldAnswerIsNotLateForTheClient(t *testing.T) {
	failed := errors.New("failed")
	held := responsewriter.NewHold(httptest.NewRecorder(), 100)
	var refused *envelope.Refusal
	if err := HeldError(held, NewLate(failed)); !errors.As(err, &refused) || refused.Status != 502 || IsLate(err) || !errors.Is(err, failed) {
		t.Errorf("held: %v", err)
	}
	if err := HeldError(held, failed); !errors.Is(err, failed) || errors.As(err, &refused) {
		t.Errorf("not late: %v", err)
	}
	if err := held.Pass(); err != nil {
		t.Fatal(err)
	}
	if err := HeldError(held, NewLate(failed)); !IsLate(err) {
		t.Errorf("passed on: %v", err)
	}
}
