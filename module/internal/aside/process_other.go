//go:build !linux

package aside

import (
	"errors"
	"time"
)

// Serve does nothing where no processes are started.
func Serve(string, func([]byte) []byte) {}

// process is never one: only Linux says for sure which program this is, and keeps work to
// a processor.
type process struct{}

var errNotHere = errors.New("only on Linux")

func start(string, int) (*process, error) { return nil, errNotHere }

func (*process) ask(uint32, []byte, time.Duration) ([]byte, error) { return nil, errNotHere }

func (*process) end()     {}
func (*process) kill()    {}
func (*process) giveWay() {}
