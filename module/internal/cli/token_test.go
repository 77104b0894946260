package cli

import (
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/token"
)

func TestEveryRefusalHasAText(t *testing.T) {
	for _, why := range token.Refusals {
		if refusalTexts[why] == "" {
			t.Errorf("%s has no text", why)
		}
	}
	if len(refusalTexts) != len(token.Refusals) {
		t.Errorf("%d texts for %d refusals", len(refusalTexts), len(token.Refusals))
	}
}
