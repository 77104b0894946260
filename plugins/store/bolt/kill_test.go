package bolt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/gatehouse/gatehouse/module/store"
)

// killedEnv names the state file to the child that is going to be killed.
const killedEnv = "GATEHOUSE_TEST_WRITE_UNTIL_KILLED"

// writeUntilKilled is the child: it creates and swaps records with many writers
// and prints what was acknowledged, when it was.
func writeUntilKilled() bool {
	path, ok := os.LookupEnv(killedEnv)
	if !ok {
		return false
	}
	b, err := Open(Options{Path: path})
	if err != nil {
		fmt.Println("error", err)
		return true
	}
	fmt.Println("open")
	for w := range 32 {
		go func() {
			for n := 0; ; n++ {
				id := fmt.Sprint(os.Getpid(), ".", w, ".", n)
				r, err := b.Create(context.Background(), store.Record{Key: store.Key{Kind: "k", ID: id}, Parent: "p", Value: []byte("0")})
				if err == nil {
					fmt.Println(id, 0)
					r.Value = []byte("1")
					_, err = b.Swap(context.Background(), r)
				}
				if err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println(id, 1)
			}
		}()
	}
	select {}
}

func TestAcknowledgedWritesSurviveKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	acknowledged := make(map[string]int)
	for kill := range 3 {
		before := len(acknowledged)
		runUntilKilled(t, path, acknowledged, 300+100*kill)
		if len(acknowledged) == before {
			t.Fatal("nothing was acknowledged before the kill")
		}
		checkAcknowledged(t, path, acknowledged)
	}
}

// writer is a child that writes.
type writer struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startWriter(t *testing.T, path string) *writer {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), killedEnv+"="+path)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &writer{t, cmd, bufio.NewScanner(out)}
}

// kill ends the child and gives what is left in the pipe: it was acknowledged.
func (w *writer) kill(line func(string)) {
	w.t.Helper()
	if err := w.cmd.Process.Kill(); err != nil {
		w.t.Fatal(err)
	}
	for w.out.Scan() {
		if line != nil {
			line(w.out.Text())
		}
	}
	if err := w.cmd.Wait(); err == nil {
		w.t.Fatal("the child ended by itself")
	}
}

// runUntilKilled collects what a child acknowledges and kills it amid its writes,
// after that many.
func runUntilKilled(t *testing.T, path string, acknowledged map[string]int, lines int) {
	t.Helper()
	child := startWriter(t, path)
	line := func(text string) {
		id, state, _ := strings.Cut(text, " ")
		if id == "error" {
			t.Errorf("the child: %s", text)
		}
		if value, err := strconv.Atoi(state); err == nil {
			acknowledged[id] = max(acknowledged[id], value)
		}
	}
	for n := 0; n < lines && child.out.Scan(); n++ {
		line(child.out.Text())
	}
	child.kill(line)
}

func checkAcknowledged(t *testing.T, path string, acknowledged map[string]int) {
	t.Helper()
	begin := time.Now()
	b := open(t, Options{Path: path})
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("opening after a kill took %v", took)
	}
	for id, want := range acknowledged {
		r, err := b.Get(t.Context(), store.Key{Kind: "k", ID: id})
		if err != nil {
			t.Fatalf("acknowledged record %s: %v", id, err)
		}
		if got, _ := strconv.Atoi(string(r.Value)); got < want {
			t.Fatalf("record %s is at %d, %d was acknowledged", id, got, want)
		}
	}
	listed, err := b.List(t.Context(), "k", "p", "", 1<<30)
	if err != nil || len(listed) < len(acknowledged) {
		t.Fatalf("%d records are listed, %d were acknowledged, %v", len(listed), len(acknowledged), err)
	}
	checkPages(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkPages is what `bbolt check` does.
func checkPages(t *testing.T, b *Backend) {
	t.Helper()
	var faults []error
	err := b.handle.viewTx(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			faults = append(faults, err)
		}
		return nil
	})
	if err = errors.Join(append(faults, err)...); err != nil {
		t.Fatal(err)
	}
}
