package aside

import (
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"
)

// idle is how long a process keeps the memory of its last request.
const idle = time.Second

// Serve is for init functions. In a process that [Processes] has started for this name it
// answers requests until there are no more, and does not return; else it does nothing.
func Serve(name string, do func(request []byte) (answer []byte)) {
	if len(os.Args) != 1 || os.Args[0] != name {
		return
	}
	// A terminal or a service manager tells the whole group to end; this one has to stay
	// for what its owner still has to answer, and sees it end.
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM)
	runtime.GOMAXPROCS(1)
	// For people who look: the program was started by a path that says nothing.
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0)
	if serve(name, os.Stdin, os.Stdout, do) != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func serve(name string, in io.Reader, out io.Writer, do func([]byte) []byte) error {
	if err := writeFrame(out, 0, []byte(name)); err != nil {
		return err
	}
	for {
		rest := time.AfterFunc(idle, debug.FreeOSMemory)
		number, request, err := readFrame(in)
		rest.Stop()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := writeFrame(out, number, do(request)); err != nil {
			return err
		}
		// The next request gets the memory of this one instead of as much again.
		runtime.GC()
	}
}
