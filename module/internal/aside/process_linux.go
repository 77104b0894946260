package aside

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// greeting is how long a new process may take until it reads: the start of the whole
// program, on a machine that is busy.
const greeting = 10 * time.Second

// process is one that was started. One request at a time.
type process struct {
	cmd     *exec.Cmd
	in, out *os.File
	gone    chan struct{} // closed when it is

	givesWay bool
}

// start starts this very program again, also when its file was replaced since, and waits
// until it greets. It knows neither our environment nor our arguments, what it says beside
// its answers goes nowhere, and it ends when its requests do: so it outlives nobody.
func start(name string, index int) (*process, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	p := &process{
		cmd: &exec.Cmd{Path: "/proc/self/exe", Args: []string{name}, Env: []string{}, Dir: "/", Stdin: theirIn, Stdout: theirOut},
		in:  in, out: out, gone: make(chan struct{}),
	}
	err = startOn(p.cmd, index)
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, fmt.Errorf("starting it: %w", err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.gone)
	}()
	if err := p.greeted(name, greeting); err != nil {
		p.kill()
		return nil, fmt.Errorf("it does not greet: %w", err)
	}
	return p, nil
}

// startOn starts a process on a processor of its own. The affinity is that of the thread
// which starts it, so no thread of the process can be without it; that thread ends with
// the goroutine, which never gives it back.
func startOn(cmd *exec.Cmd, index int) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		pin(index)
		started <- cmd.Start()
	}()
	return <-started
}

func (p *process) greeted(name string, patience time.Duration) error {
	if err := p.out.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	_, said, err := readFrame(p.out)
	if err == nil && string(said) != name {
		err = errFrame
	}
	return err
}

// ask returns an answer, which is never empty. After an error the process must be killed:
// what it says later would be taken for the answer to something else.
func (p *process) ask(number uint32, request []byte, patience time.Duration) ([]byte, error) {
	until := time.Now().Add(patience)
	if err := errors.Join(p.in.SetWriteDeadline(until), p.out.SetReadDeadline(until)); err != nil {
		return nil, err
	}
	if err := writeFrame(p.in, number, request); err != nil {
		return nil, fmt.Errorf("asking it: %w", err)
	}
	starved := func() bool { return false }
	if p.givesWay {
		starved = starving(p.spent, func() { _ = p.out.SetReadDeadline(time.Now()) })
	}
	n, answer, err := readFrame(p.out)
	switch late := starved(); {
	case err != nil && late:
		return nil, errStarved
	case err != nil:
		return nil, fmt.Errorf("waiting for its answer: %w", err)
	case n != number || len(answer) == 0:
		return nil, errFrame
	}
	return answer, nil
}

// kill ends it, also one that waits for work: it has nothing to put away, and one that is
// asked to end takes its time on a busy machine.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_, _ = p.in.Close(), p.out.Close()
	<-p.gone
}
