package progress

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// begun returns a bar whose clock is at *now.
func begun(terminal bool, total int64, now *time.Time) (*Bar, *bytes.Buffer) {
	var out bytes.Buffer
	b := &Bar{w: &out, terminal: terminal, now: func() time.Time { return *now }, label: "Copying", unit: Count("records"), total: total}
	b.begin()
	return b, &out
}

func TestTerminalProgressIsOneUpdatedLine(t *testing.T) {
	now := time.Unix(1000, 0)
	b, out := begun(true, 10, &now)
	b.Add(1) // too soon to be drawn
	now = now.Add(redrawEvery)
	b.Add(4)
	want := "\r[" + strings.Repeat("-", 30) + "] Copying: 0 records of 10 records, 0%" +
		"\r[" + strings.Repeat("#", 15) + strings.Repeat("-", 15) + "] Copying: 5 records of 10 records, 50%"
	if got := out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	b.End()
	if got := out.String(); strings.Trim(got, " \r") != "" || !strings.HasSuffix(got, "\r") || strings.Contains(got, "\n") {
		t.Errorf("the end writes %q", got)
	}
}

func TestReadingAFileIsProgress(t *testing.T) {
	now := time.Unix(1000, 0)
	b, out := begun(false, 10, &now)
	now = now.Add(lineEvery)
	for _, bar := range []*Bar{b, nil} {
		if text, err := io.ReadAll(bar.Reading(strings.NewReader("12345"))); string(text) != "12345" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	if want := "Copying: 5 records of 10 records, 50%\n"; out.String() != want {
		t.Errorf("%q, want %q", out, want)
	}
}

func TestLogProgressIsWrittenPeriodically(t *testing.T) {
	now := time.Unix(1000, 0)
	b, out := begun(false, 0, &now)
	b.Add(1)
	b.End()
	if out.Len() != 0 {
		t.Errorf("short work writes %q", out)
	}
	now = now.Add(lineEvery)
	b.Add(1)
	b.Add(1)
	if got := out.String(); got != "Copying: 2 records\n" {
		t.Errorf("%q", got)
	}
}

func TestProgressBarNeverExceedsItsEnd(t *testing.T) {
	now := time.Unix(1000, 0)
	b, out := begun(true, 2, &now)
	now = now.Add(time.Second)
	b.Add(5)
	if !strings.Contains(out.String(), "["+strings.Repeat("#", 30)+"]") || !strings.Contains(out.String(), "100%") {
		t.Errorf("%q", out)
	}
}

func TestFileIsNoTerminalAndNilBarIsSilent(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if New(file, "x", Bytes, 1).terminal {
		t.Error("a file is a terminal")
	}
	var none *Bar
	none.Add(1)
	none.End()
}

func TestBytesAreFormattedReadably(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 1536 << 10: "1.5 MiB", 3 << 40: "3.0 TiB", 5000 << 40: "5000.0 TiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
