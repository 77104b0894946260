package aside

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// policies are how the threads of a process are scheduled.
func policies(t *testing.T, pid int) map[uint32]int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		t.Fatal(err)
	}
	n := map[uint32]int{}
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if err != nil {
			t.Fatal(err)
		}
		if attr, err := unix.SchedGetAttr(id, 0); err == nil {
			n[attr.Policy]++
		}
	}
	return n
}

func TestAProcessGivesWayToEverythingElse(t *testing.T) {
	p, _, _ := with(t, nil)
	n := pid(t, p)
	p.one().giveWay()
	if had := policies(t, n); len(had) != 1 || had[unix.SCHED_IDLE] == 0 {
		t.Errorf("threads by policy: %v, want idle ones alone", had)
	}
	if own := policies(t, os.Getpid()); len(own) != 1 || own[unix.SCHED_NORMAL] == 0 {
		t.Errorf("threads of this process by policy: %v", own)
	}
}

func TestWhereAProcessThatGivesWayGetsNothingTheNextCompetesForAWhile(t *testing.T) {
	p, log, now := with(t, nil)
	first := pid(t, p)
	p.c.GiveWay = true
	if err := syscall.Kill(first, syscall.SIGSTOP); err != nil { // as good as an endless queue for its processor
		t.Fatal(err)
	}
	begin := time.Now()
	if got := string(p.Do([]byte("echo first"))); got != "first" {
		t.Errorf("answer %q", got)
	}
	if took := time.Since(begin); took < hunger || took > 10*hunger {
		t.Errorf("answered after %v, want soon after %v", took, hunger)
	}
	gone(t, first)
	second := pid(t, p)
	if second == os.Getpid() || second == first || p.Fault() != nil || log.Len() > 0 {
		t.Errorf("the next is done in %d (the first was %d), fault %v, logged %s", second, first, p.Fault(), log)
	}
	if had := policies(t, second); had[unix.SCHED_IDLE] > 0 {
		t.Errorf("threads by policy: %v, want none that gives way", had)
	}
	now.at.Add(int64(pause / time.Second))
	pid(t, p)
	if left := p.one(); left != nil && !left.givesWay { // it may have got nothing again
		t.Error("after the pause it does not give way")
	}
}

func TestLongWorkIsNoHunger(t *testing.T) {
	for name, c := range map[string]struct {
		share time.Duration // of each second
		want  bool
	}{
		"all of a processor":      {time.Second, false},
		"more than half of it":    {600 * time.Millisecond, false},
		"less than half of it":    {400 * time.Millisecond, true},
		"nothing":                 {0, true},
		"nothing, and it is dead": {-time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin, ends := time.Now(), 0
			stop := starving(func() time.Duration { return time.Since(begin) * c.share / time.Second }, func() { ends++ })
			time.Sleep(10*hunger + 1)
			if got := stop(); got != c.want || got != (ends == 1) {
				t.Errorf("%s: starving %v, ended %d times", name, got, ends)
			}
		})
	}
}

func TestThatAProcessWorksIsSeen(t *testing.T) {
	p, _, _ := with(t, nil)
	pid(t, p)
	before := p.one().spent()
	p.Do([]byte("work 100ms"))
	if spent := p.one().spent() - before; spent < 100*time.Millisecond || spent > time.Second {
		t.Errorf("100 ms of work were %v", spent)
	}
}

// one is the process of who has one at most.
func (p *Processes) one() *process {
	s := <-p.seats
	defer func() { p.seats <- s }()
	return s.running
}
