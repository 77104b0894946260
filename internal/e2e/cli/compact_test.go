package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCompactShrinksARunningGatewaysStateFile(t *testing.T) {
	g := startSite(t, site)
	done(t, g, "long enough password\n", "user", "add", "carol")
	if out := done(t, g, "", "compact"); !strings.HasPrefix(out, "The state file had ") {
		t.Errorf("compact said %q", out)
	}
	var got struct {
		Before int64 `json:"bytes_before"`
		After  int64 `json:"bytes_after"`
	}
	if err := json.Unmarshal([]byte(done(t, g, "", "compact", "--format", "json")), &got); err != nil || got.After == 0 || got.After > got.Before {
		t.Errorf("compact: %+v, %v", got, err)
	}
	if out := done(t, g, "", "user", "show", "carol"); !strings.Contains(out, "carol") {
		t.Errorf("the user is gone: %q", out)
	}
}
