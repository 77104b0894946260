package batch_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/rest/batch"
)

func some(n int) (items []batch.Item, groups []batch.Group) {
	for i := range n {
		id := fmt.Sprint(i)
		items = append(items, batch.Item{ID: id, Sent: []byte(id), Field: "title", Value: []byte("1")})
	}
	return items, batch.Groups(items)
}

func TestBatchRunsFourAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, all atomic.Int32
		_, groups := some(30)
		results := batch.Runner{Begin: time.Minute, Grace: time.Minute, Do: func(ctx context.Context, g batch.Group) batch.Result {
			n := now.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			now.Add(-1)
			all.Add(1)
			return batch.Result{Status: 200, Body: []byte(`"` + g.ID + `"`)}
		}}.Run(t.Context(), groups)
		if most.Load() != 4 || all.Load() != 30 {
			t.Errorf("%d at a time, %d in all", most.Load(), all.Load())
		}
		for i, r := range results {
			if string(r.Body) != fmt.Sprintf("%q", fmt.Sprint(i)) {
				t.Errorf("result %d is %s", i, r.Body)
			}
		}
	})
}

func TestDisconnectFinishesStartedItemsAndStartsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, leave := context.WithCancel(t.Context())
		var begun, finished atomic.Int32
		_, groups := some(30)
		go func() {
			time.Sleep(1500 * time.Millisecond) // while items 4 to 7 run
			leave()
		}()
		results := batch.Runner{Begin: time.Minute, Grace: time.Minute, Do: func(ctx context.Context, g batch.Group) batch.Result {
			begun.Add(1)
			select {
			case <-ctx.Done():
				return batch.Result{Status: 504}
			case <-time.After(time.Second):
			}
			finished.Add(1)
			return batch.Result{Status: 200}
		}}.Run(client, groups)
		if begun.Load() != 8 || finished.Load() != 8 {
			t.Errorf("%d begun, %d finished", begun.Load(), finished.Load())
		}
		for i, r := range results {
			if (r.Status == 200) != (i < 8) {
				t.Errorf("result %d: %d", i, r.Status)
			}
		}
	})
}

func TestHangingItemsEndAfterTheGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, leave := context.WithCancel(t.Context())
		leave2 := time.AfterFunc(time.Second, leave)
		defer leave2.Stop()
		begun := time.Now()
		_, groups := some(4)
		batch.Runner{Begin: time.Hour, Grace: time.Minute, Do: func(ctx context.Context, g batch.Group) batch.Result {
			<-ctx.Done()
			return batch.Result{Status: 504}
		}}.Run(client, groups)
		if took := time.Since(begun); took != 61*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestBatchStopsStartingItemsBeforeItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		items, groups := some(100)
		results := batch.Runner{Begin: 30 * time.Second, Grace: time.Minute, Do: func(context.Context, batch.Group) batch.Result {
			time.Sleep(20 * time.Second)
			return batch.Result{Status: 200}
		}}.Run(t.Context(), groups)
		var b strings.Builder
		answer := batch.NewAnswer(items, groups, results)
		if err := answer.Write(&b); err != nil {
			t.Fatal(err)
		}
		if tried, not := strings.Count(b.String(), `"status":200,"data":null`), strings.Count(b.String(), `"status":424,"error":{"code":"not_tried"`); answer.Status() != 207 || tried != 8 || not != 92 {
			t.Errorf("%d: %d tried, %d not", answer.Status(), tried, not)
		}
	})
}

func TestPanicFailsOnlyItsBatchItem(t *testing.T) {
	items, groups := some(12)
	results := batch.Runner{Begin: time.Minute, Grace: time.Minute, Do: func(_ context.Context, g batch.Group) batch.Result {
		if g.ID == "5" {
			panic("one of them")
		}
		return batch.Result{Status: 204}
	}}.Run(t.Context(), groups)
	var b strings.Builder
	_ = batch.NewAnswer(items, groups, results).Write(&b)
	if strings.Count(b.String(), `"status":204,"data":null`) != 11 || !strings.Contains(b.String(), `{"id":5,"status":500,"error":{"code":"upstream_error"`) {
		t.Error(b.String())
	}
}

func TestBatchAnswerListsItemsInOrder(t *testing.T) {
	items := []batch.Item{
		{ID: "b", Sent: []byte(`"b"`), Field: "x", Value: []byte("1")}, {ID: "a", Sent: []byte(`"a"`), Field: "x", Value: []byte("1")},
		{ID: "b", Sent: []byte(`"\u0062"`), Field: "y", Value: []byte("1")}, {ID: "c", Sent: []byte(`1`), Field: "x", Value: []byte("1")},
		{ID: "d", Sent: []byte(`2`), Field: "x", Value: []byte("1")},
	}
	groups := batch.Groups(items)
	a := batch.NewAnswer(items, groups, []batch.Result{
		{Status: 200, Body: []byte(`{"n":12345678901234567890}`)}, {Status: 404, Body: []byte(`{"error":{"code":"not_found","message":"m","field":null}}`)},
		{Status: 200, Body: []byte(`<html>`)}, {Status: 302, Body: nil},
	})
	var b strings.Builder
	_ = a.Write(&b)
	const want = `{"data":[{"id":"b","status":200,"data":{"n":12345678901234567890}},` +
		`{"id":"a","status":404,"error":{"code":"not_found","message":"m","field":null}},` +
		`{"id":"\u0062","status":200,"data":{"n":12345678901234567890}},` +
		`{"id":1,"status":200,"data":null},` +
		`{"id":2,"status":302,"error":{"code":"bad_request","message":"the request is not valid","field":null}}]}`
	if b.String() != want || a.Status() != 207 {
		t.Errorf("%d %s", a.Status(), b.String())
	}
	ok := batch.NewAnswer(items[:1], batch.Groups(items[:1]), []batch.Result{{Status: 204}})
	if ok.Status() != 200 {
		t.Error(ok.Status())
	}
}

func TestBatchesShareNoState(t *testing.T) {
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, groups := some(20)
			batch.Runner{Begin: time.Minute, Grace: time.Minute, Do: func(context.Context, batch.Group) batch.Result { return batch.Result{Status: 200} }}.Run(t.Context(), groups)
		})
	}
	all.Wait()
}
