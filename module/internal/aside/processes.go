package aside

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Config is what [New] needs.
type Config struct {
	// Name is the one that [Serve] was called with.
	Name string
	// Do is the work, as for Serve: it is done here when it cannot be done elsewhere.
	Do func(request []byte) (answer []byte)
	// Processes is how many there may be, and how many requests are worked on at a time.
	Processes int
	// Patience is how long an answer may take before its process is taken for dead.
	Patience time.Duration
	// GiveWay lets everything else on the machine run before the processes, as long as they
	// get somewhere all the same.
	GiveWay bool
	Log     *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// pause is how long work is done here after a process could not be started or died, so
// that one which cannot live is not started for each request; and how long processes
// compete like all others after one that gave way got nothing.
const pause = 10 * time.Second

// Processes do one kind of work. It is safe for concurrent use.
type Processes struct {
	c     Config
	seats chan *seat
	end   sync.Once

	closed atomic.Bool
	fault  atomic.Pointer[error] // why work is done here, if it is
}

// seat is the place of one process. Who has taken it out of the channel may use it.
type seat struct {
	index   int
	running *process  // nil: none
	retry   time.Time // none is started before
	equal   time.Time // it does not give way before
	number  uint32    // of the last request
}

// New checks the configuration. It starts nothing.
func New(c Config) (*Processes, error) {
	if c.Name == "" || c.Do == nil || c.Processes < 1 || c.Patience <= 0 || c.Log == nil {
		return nil, errors.New("aside: an incomplete Config")
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	p := &Processes{c: c, seats: make(chan *seat, c.Processes)}
	for i := range c.Processes {
		p.seats <- &seat{index: i}
	}
	return p, nil
}

// Do answers a request: in a process of its own, or here when there can be none. It waits
// while as many requests as there may be processes are worked on.
func (p *Processes) Do(request []byte) (answer []byte) {
	s := <-p.seats
	defer func() { p.seats <- s }()
	if p.closed.Load() || len(request) > maxFrame {
		return p.c.Do(request)
	}
	answer, err := p.ask(s, request)
	if err != nil {
		return p.c.Do(request)
	}
	return answer
}

// Fault is why work is done in this process at the moment, nil when it is not or when
// there was none yet.
func (p *Processes) Fault() error {
	if why := p.fault.Load(); why != nil {
		return *why
	}
	return nil
}

// Close ends the processes, those at work when they have answered. What is asked from
// then on is done here.
func (p *Processes) Close() {
	p.end.Do(func() {
		p.closed.Store(true)
		// All of them before one is given back, which somebody else would take.
		var all []*seat
		for range cap(p.seats) {
			all = append(all, <-p.seats)
		}
		for _, s := range all {
			if s.running != nil {
				s.running.kill()
				s.running = nil
			}
			p.seats <- s
		}
	})
}

var errPause = errors.New("the last process failed a moment ago")

// errStarved: the machine is so busy that a process which gives way would not answer soon.
// That is no fault.
var errStarved = errors.New("the machine is too busy")

func (p *Processes) ask(s *seat, request []byte) ([]byte, error) {
	if s.running == nil {
		if p.c.Now().Before(s.retry) {
			return nil, errPause
		}
		made, err := start(p.c.Name, s.index)
		if err != nil {
			p.failed(s, err)
			return nil, err
		}
		s.running = made
	}
	if p.c.GiveWay && !p.c.Now().Before(s.equal) {
		s.running.giveWay()
	}
	s.number++
	answer, err := s.running.ask(s.number, request, p.c.Patience)
	if errors.Is(err, errStarved) {
		go s.running.kill() // which it does not get to soon either
		s.running, s.equal = nil, p.c.Now().Add(pause)
		return nil, err
	}
	if err != nil {
		s.running.kill()
		s.running = nil
		p.failed(s, err)
		return nil, err
	}
	if p.fault.Swap(nil) != nil {
		p.c.Log.Info("work is done in a process of its own again", slog.String("process", p.c.Name))
	}
	return answer, nil
}

// failed says so once, until it works again.
func (p *Processes) failed(s *seat, err error) {
	s.retry = p.c.Now().Add(pause)
	if p.fault.Swap(&err) == nil {
		p.c.Log.Warn("work that should be done in a process of its own is done in this one, and other requests wait for it longer",
			slog.String("process", p.c.Name), slog.Any("error", err))
	}
}
