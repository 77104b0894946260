package harness

import (
	"os"
	"path/filepath"
	"syscall"
)

// WriteProgram writes a script that can be run, and the folders above it. Nobody can run a file that is open for writing ("text
// file busy"), and a process that another test starts meanwhile has all our files open until it runs its program; so
// none is started meanwhile.
func WriteProgram(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(file, text, 0o755)
}
