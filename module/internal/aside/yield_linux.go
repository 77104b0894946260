package aside

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// hunger is how long a process that gives way may go with next to nothing of its processor,
// in the middle of a request, until the machine is taken for one that is too busy for that.
const hunger = 250 * time.Millisecond

// giveWay lets everything else on the machine run before the process (SCHED_IDLE, sched(7)):
// whatever wakes up on its processor need not wait until its turn is over. The way back
// needs a privilege. Where it cannot be done the process stays as it is.
func (p *process) giveWay() {
	if p.givesWay {
		return
	}
	p.givesWay = true
	tasks := "/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/task"
	idle := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE}
	// A thread that is not asked yet may start another one meanwhile.
	for asked := map[string]bool{}; ; {
		all, err := os.ReadDir(tasks)
		if err != nil {
			return
		}
		before := len(asked)
		for _, task := range all {
			if asked[task.Name()] {
				continue
			}
			asked[task.Name()] = true
			if id, err := strconv.Atoi(task.Name()); err == nil {
				_ = unix.SchedSetAttr(id, &idle, 0)
			}
		}
		if len(asked) == before {
			return
		}
	}
}

// starving calls end when what was spent grows by less than half of the time for as long as
// hunger, until stop is called, which tells whether it did.
func starving(spent func() time.Duration, end func()) (stop func() (ended bool)) {
	done, over := make(chan struct{}), make(chan bool, 1)
	go func() {
		tick := time.NewTicker(hunger)
		defer tick.Stop()
		for had := spent(); ; {
			select {
			case <-done:
				over <- false
				return
			case <-tick.C:
			}
			has := spent()
			if has-had < hunger/2 {
				end()
				over <- true
				return
			}
			had = has
		}
	}()
	return func() bool {
		close(done)
		return <-over
	}
}

// spent is the processor's time that the process has had: clock_getcpuclockid(3).
func (p *process) spent() time.Duration {
	const perProcess = 2
	var at unix.Timespec
	if unix.ClockGettime(int32(^p.cmd.Process.Pid<<3|perProcess), &at) != nil {
		return 0
	}
	return time.Duration(at.Nano())
}
