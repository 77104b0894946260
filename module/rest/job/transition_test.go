package job

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func inState(s State) *Job {
	j := &Job{ID: "j", Queue: "q", State: s, Input: &Input{URL: "https://files.example/a"}, Created: noon, Fence: 1}
	if s == Running {
		j.Node, j.Until = "n", noon.Add(lease)
	}
	return j
}

func TestJobFollowsItsTransitionTable(t *testing.T) {
	ops := map[string]struct {
		do   func(*Job) error
		from []State
		to   State
	}{
		"claim":     {func(j *Job) error { return j.Claim(noon, "n") }, []State{Queued}, Running},
		"renew":     {func(j *Job) error { return j.Renew(noon, 1, nil) }, []State{Running}, Running},
		"succeed":   {func(j *Job) error { return j.Succeed(noon, 1, Result{}) }, []State{Running}, Succeeded},
		"fail":      {func(j *Job) error { return j.Fail(noon, 1, Failure{}) }, []State{Running}, Failed},
		"interrupt": {func(j *Job) error { return j.Interrupt(noon, 0) }, []State{Running}, Failed},
		"again":     {func(j *Job) error { return j.Interrupt(noon, 1) }, []State{Running}, Queued},
		"cancel":    {func(j *Job) error { return j.Cancel(noon) }, []State{Queued, Running}, Cancelled},
	}
	for name, op := range ops {
		for _, e := range States {
			j := inState(e.State)
			before, _ := encode(j)
			err := op.do(j)
			if may := slices.Contains(op.from, e.State); may != (err == nil) {
				t.Errorf("%s of a job that is %s: %v", name, e.State, err)
			} else if may && j.State != op.to {
				t.Errorf("%s of a job that is %s makes it %s", name, e.State, j.State)
			} else if after, _ := encode(j); !may && !bytes.Equal(before, after) {
				t.Errorf("%s of a job that is %s fails and changes it:\n%s\n%s", name, e.State, before, after)
			}
			if j.State != e.State && !e.State.may(j.State) {
				t.Errorf("%s: from %s to %s is not in the table", name, e.State, j.State)
			}
		}
	}
}

func TestOldFenceIsRefused(t *testing.T) {
	for name, op := range map[string]func(*Job) error{
		"renew":   func(j *Job) error { return j.Renew(noon, 1, nil) },
		"succeed": func(j *Job) error { return j.Succeed(noon, 1, Result{}) },
		"fail":    func(j *Job) error { return j.Fail(noon, 1, Failure{}) },
	} {
		j := inState(Running)
		j.Fence = 2
		if err := op(j); !errors.Is(err, ErrFence) || j.State != Running {
			t.Errorf("%s: %v, %s", name, err, j.State)
		}
	}
}

func TestJobIsRetriedAsConfigured(t *testing.T) {
	j := &Job{State: Queued, Created: noon}
	for range 3 {
		if err := j.Claim(noon, "n"); err != nil {
			t.Fatal(err)
		}
		if err := j.Interrupt(noon, 2); err != nil {
			t.Fatal(err)
		}
	}
	if j.State != Failed || j.Failure.Code != string(Interrupted) || j.Fence != 3 {
		t.Errorf("%+v", j)
	}
}

// Whatever nodes, owners and clocks do in whatever order.
func TestJobInvariantsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := &Job{ID: "j", State: Queued, Created: noon, Input: &Input{URL: "u"}}
		retry := rapid.IntRange(0, 3).Draw(t, "retry")
		now, claims := noon, 0
		var held []uint64 // fences that somebody believes to hold
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			was := *j
			now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
			fence := uint64(0)
			if len(held) > 0 {
				fence = rapid.SampledFrom(held).Draw(t, "fence")
			}
			var err error
			op := rapid.SampledFrom([]string{"claim", "renew", "succeed", "fail", "lost", "cancel"}).Draw(t, "op")
			switch op {
			case "claim":
				if err = j.Claim(now, "n"); err == nil {
					claims++
					held = append(held, j.Fence)
				}
			case "renew":
				err = j.Renew(now, fence, nil)
			case "succeed":
				err = j.Succeed(now, fence, Result{})
			case "fail":
				err = j.Fail(now, fence, Failure{Code: "x"})
			case "lost":
				if j.State == Running {
					err = j.Interrupt(now, retry)
				}
			case "cancel":
				err = j.Cancel(now)
			}
			switch {
			case was.State.Final() && (err == nil && op != "lost" || j.State != was.State):
				t.Fatalf("%s: %s was final, now %s", op, was.State, j.State)
			case err == nil && (op == "succeed" || op == "fail" || op == "renew") && fence != was.Fence:
				t.Fatalf("%s with the fence %d of %d", op, fence, was.Fence)
			case j.Fence < was.Fence || j.Fence != uint64(claims):
				t.Fatalf("%d fences, %d claims", j.Fence, claims)
			case claims > retry+1:
				t.Fatalf("begun %d times, retry is %d", claims, retry)
			case j.State.Final() != (j.Input == nil) || j.State.Final() == j.Finished.IsZero():
				t.Fatalf("%+v", j)
			case (j.State == Running) == j.Until.IsZero() || (j.State == Running) != (j.Node != ""):
				t.Fatalf("a lease without a run: %+v", j)
			case (j.State == Failed) != (j.Failure != nil):
				t.Fatalf("%+v", j)
			}
			b, err := encode(j)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := decode(b); err != nil || again.State != j.State || again.Fence != j.Fence {
				t.Fatalf("%v %+v", err, again)
			}
		}
	})
}

func TestRecordOfANewerReleaseIsRefused(t *testing.T) {
	if _, err := decode([]byte(`{"v":2,"id":"a"}`)); err == nil {
		t.Error("it was read")
	}
	if _, err := decode([]byte(`{`)); err == nil {
		t.Error("half a record was read")
	}
}

func TestEveryCodeHasAMessage(t *testing.T) {
	for _, c := range Codes {
		if c.Message == "" || c.Code.Failure().Message != c.Message {
			t.Error(c.Code)
		}
	}
}
