package proc

import (
	"os"
	"testing"
	"time"
)

func TestProcessTimesAreParsed(t *testing.T) {
	for raw, want := range map[string]time.Duration{
		"17 (caddy) S 1 17 17 0 -1 4194560 5000 0 0 0 123 45 0 0 20 0 9 0 100 0 0":          1680 * time.Millisecond,
		"17 (a) (b c) 1 2) R 1 17 17 0 -1 4194560 5000 0 0 0 7 0 0 0 20 0 9 0 100 0 0":      70 * time.Millisecond,
		"17 (nginx: worker) S 1 17 17 0 -1 4194560 5000 0 0 0 0 99999 1 1 20 0 9 0 100 0 0": 999990 * time.Millisecond,
	} {
		if got, err := parseStat(raw); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", raw, got, err, want)
		}
	}
	for _, raw := range []string{"", "17 (caddy) S 1 17", "17 (caddy) S 1 17 17 0 -1 4194560 5000 0 0 0 x 45 0 0", "17 (caddy) S 1 17 17 0 -1 4194560 5000 0 0 0 1 y 0 0"} {
		if got, err := parseStat(raw); err == nil {
			t.Errorf("%q is %v", raw, got)
		}
	}
}

func TestResidentMemoryIsParsed(t *testing.T) {
	if got, err := parseResident("Name:\tcaddy\nVmHWM:\t  99 kB\nVmRSS:\t   61440 kB\nThreads:\t9\n"); err != nil || got != 60<<20 {
		t.Error(got, err)
	}
	for _, raw := range []string{"", "Name:\tcaddy\n", "VmRSS:\t many kB\n"} {
		if got, err := parseResident(raw); err == nil {
			t.Errorf("%q is %v", raw, got)
		}
	}
}

func TestOwnProcessUsage(t *testing.T) {
	before, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for after := before; after <= before; {
		if after, err = CPU(os.Getpid()); err != nil {
			t.Fatal(err)
		}
	}
	if own, err := Resident(os.Getpid()); err != nil || own < 1<<20 {
		t.Error(own, err)
	}
}

func TestOwnUsageMatchesProc(t *testing.T) {
	coarse, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	fine, err := Own()
	if err != nil || fine < coarse-2*tick {
		t.Errorf("%v, %v in /proc: %v", fine, coarse, err)
	}
	for before := fine; fine == before; {
		if fine, err = Own(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVanishedProcessIsAnError(t *testing.T) {
	if _, err := CPU(1 << 30); err == nil {
		t.Error("no error")
	}
	if _, err := Resident(1 << 30); err == nil {
		t.Error("no error")
	}
}
