package password

import (
	"encoding/binary"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/aside"
)

// program is the name of the processes that hash; ps shows it.
const program = "gatehouse-hash"

// patience is how long a hash may take that [Parse] lets pass, many times over.
const patience = 30 * time.Second

// The name decides before any other code of the program runs: which program this package
// is linked into does not matter.
func init() { aside.Serve(program, answer) }

// Elsewhere is processes in which everything that takes time here is done from
// [OpenElsewhere] to Close, for every caller in this program. A hash fills the caches and
// keeps one of the few threads of the Go runtime for as long as it takes, and everything
// that this thread would have done waits.
type Elsewhere struct{ processes *aside.Processes }

// open are those that are open, the newest last: of two configurations, the new one's.
var open struct {
	mu  sync.Mutex
	all []*Elsewhere
}

// OpenElsewhere provides for so many hashes at a time; more wait. It starts nothing: the
// first hashes do. Where processes cannot be started the same is done in this one.
func OpenElsewhere(processes int, log *slog.Logger) (*Elsewhere, error) {
	return openElsewhere(aside.Config{Processes: processes, GiveWay: true, Log: log})
}

func openElsewhere(c aside.Config) (*Elsewhere, error) {
	c.Name, c.Do, c.Patience = program, answer, patience
	p, err := aside.New(c)
	if err != nil {
		return nil, err
	}
	e := &Elsewhere{p}
	open.mu.Lock()
	defer open.mu.Unlock()
	open.all = append(open.all, e)
	return e, nil
}

// Close ends the processes, when what they work on is done.
func (e *Elsewhere) Close() {
	open.mu.Lock()
	open.all = slices.DeleteFunc(open.all, func(o *Elsewhere) bool { return o == e })
	open.mu.Unlock()
	e.processes.Close()
}

// Fault is why passwords are hashed in this process, nil when they are not.
func (e *Elsewhere) Fault() error { return e.processes.Fault() }

func elsewhere() *aside.Processes {
	open.mu.Lock()
	defer open.mu.Unlock()
	if len(open.all) == 0 {
		return nil
	}
	return open.all[len(open.all)-1].processes
}

// What is asked for: a letter, the length of a hash in two bytes and the hash, which is
// empty unless it is to be compared, and the password.
const (
	askMatch  = 'm'
	askHash   = 'a'
	askBcrypt = 'b'
)

// The answers to askMatch. Those to the others are a hash.
const yes, no = "yes", "no"

func request(verb byte, hash, password string) []byte {
	r := append(make([]byte, 0, 3+len(hash)+len(password)), verb)
	r = binary.BigEndian.AppendUint16(r, uint16(len(hash)))
	return append(append(r, hash...), password...)
}

// answer does what was asked for. It is empty for what it does not understand.
func answer(request []byte) []byte {
	if len(request) < 3 {
		return nil
	}
	length := int(binary.BigEndian.Uint16(request[1:]))
	if len(request) < 3+length {
		return nil
	}
	hash, password := string(request[3:3+length]), string(request[3+length:])
	switch request[0] {
	case askMatch:
		p, err := Parse(hash)
		if err != nil {
			return nil
		}
		if p.check(password) {
			return []byte(yes)
		}
		return []byte(no)
	case askHash:
		return []byte(usual.hash(password))
	case askBcrypt:
		return []byte(newBcrypt(password))
	}
	return nil
}
