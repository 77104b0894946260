package password

import (
	"bytes"
	"encoding/binary"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/gatehouse/gatehouse/module/internal/aside"
)

func opened(t *testing.T, processes int) (*Elsewhere, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	e, err := openElsewhere(aside.Config{Processes: processes, Log: slog.New(slog.NewTextHandler(log, nil))}) // who gives way gets nothing of a busy machine
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e, log
}

func TestWhatIsHashedElsewhereIsWhatIsHashedHere(t *testing.T) {
	e, log := opened(t, 1)
	for name, k := range known {
		p := parsed(t, k.hash)
		if !p.Matches(k.password) || p.Matches(k.password+"x") || p.Matches("\x00"+k.password) {
			t.Errorf("%s: another answer than here", name)
		}
	}
	fresh, ok := HashBcrypt(battery)
	for _, made := range []string{Hash(battery), fresh} {
		if p := parsed(t, made); !p.check(battery) || !p.Matches(battery) || p.Matches("x") {
			t.Errorf("%q, %t", made, ok)
		}
	}
	long := strings.Repeat("x", 100<<10) // longer than what is sent
	if !parsed(t, Hash(long)).Matches(long) || parsed(t, Hash(long)).Matches(long+"x") {
		t.Error("a very long password")
	}
	if e.Fault() != nil || log.Len() > 0 {
		t.Errorf("%v %s", e.Fault(), log)
	}
}

// The memory of a hash is never this process's.
func TestAHashTakesItsMemoryElsewhere(t *testing.T) {
	e, _ := opened(t, 1)
	took := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Hash(battery)
		parsed(t, usual.Dummy()).Matches(battery)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if n := took(); n > 1<<20 || e.Fault() != nil {
		t.Errorf("%d bytes were used here, %v", n, e.Fault())
	}
	e.Close()
	if n := took(); n < 90<<20 {
		t.Errorf("%d bytes were used when it was closed", n)
	}
}

func TestTheNewestThatIsOpenIsUsed(t *testing.T) {
	if elsewhere() != nil {
		t.Fatal("one is open")
	}
	first, _ := opened(t, 1)
	second, _ := opened(t, 2)
	if elsewhere() != second.processes {
		t.Error("not the second")
	}
	second.Close() // a configuration that was refused
	if elsewhere() != first.processes {
		t.Error("not the first")
	}
	first.Close()
	first.Close()
	if elsewhere() != nil || Hash(battery) == "" {
		t.Error("after the last")
	}
}

func TestRequestsThatAreNoneAreNotAnswered(t *testing.T) {
	for name, r := range map[string][]byte{
		"nothing": nil, "two bytes": {askHash, 0}, "another verb": request('x', "", battery),
		"a hash that is longer than all": binary.BigEndian.AppendUint16([]byte{askMatch}, 9),
		"a hash that is none":            request(askMatch, "hunter2", battery),
		"one that asks for too much":     request(askMatch, "$2y$31$"+strings.Repeat("s", 53), battery),
	} {
		if got := answer(r); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Who cannot be understood elsewhere is no reason to refuse a password.
func TestWhatIsNotAnsweredElsewhereIsCheckedHere(t *testing.T) {
	opened(t, 1)
	p := parsed(t, usual.hash(battery))
	p.text = "hunter2"
	if !p.Matches(battery) || p.Matches(battery+"x") {
		t.Error("another answer than here")
	}
}
