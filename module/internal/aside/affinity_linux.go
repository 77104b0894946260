package aside

import (
	"os"

	"golang.org/x/sys/unix"
)

// pin keeps this thread, and what it starts, to one of the processors it may use. The
// kernel moves work only now and then, and lets what has begun go on for some
// milliseconds: a process that may run everywhere holds up a server's threads everywhere,
// this one those of one processor, and they go to the others. Where it cannot be done the
// work is done all the same.
func pin(index int) {
	var allowed, one unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return
	}
	if cpu, ok := choose(&allowed, os.Getpid()+index); ok {
		one.Set(cpu)
		_ = unix.SchedSetaffinity(0, &one)
	}
}

// choose takes another processor for each index in turn, and never the first, so that one
// is always left; and none where there is one only. The process's number is part of the
// index, since several gateways on a machine should not meet on one.
func choose(allowed *unix.CPUSet, index int) (cpu int, ok bool) {
	others := allowed.Count() - 1
	if others < 1 {
		return 0, false
	}
	skip := 1 + index%others
	for cpu := range len(allowed) * 64 {
		if allowed.IsSet(cpu) {
			if skip == 0 {
				return cpu, true
			}
			skip--
		}
	}
	return 0, false
}
