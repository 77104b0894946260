package splice

import (
	"strings"
	"testing"
)

func TestOnePlanServesDifferentTexts(t *testing.T) {
	p, err := Compile(Config{List: true, ID: Pointer{"id"}, Append: func(dst []byte, _ Scalar) []byte { return append(dst, `"x":0`...) }})
	if err != nil {
		t.Fatal(err)
	}
	const text = `[{"id":1},{"id":2},{"id":3}]`
	for range 2 { // an editor that comes back from the pool has forgotten
		for _, c := range []struct {
			skip, take int
			append     func([]byte, Scalar) []byte
			want       string
		}{
			{0, 0, nil, `[{"id":1,"x":0},{"id":2,"x":0},{"id":3,"x":0}]`},
			{1, 1, nil, `[{"id":2,"x":0}]`},
			{2, 9, func(dst []byte, id Scalar) []byte { return append(dst, `"y":`+id.Text...) }, `[{"id":3,"y":3}]`},
			{3, 1, nil, `[]`},
		} {
			var b strings.Builder
			e := p.New(&b)
			e.Vary(c.skip, c.take, c.append)
			if _, err := e.Write([]byte(text)); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil || b.String() != c.want || e.Elements() != 3 {
				t.Errorf("%v %s, want %s", err, b.String(), c.want)
			}
			e.Release()
		}
	}
	none, err := Compile(Config{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	e := none.New(&b)
	e.Vary(0, 0, func(dst []byte, _ Scalar) []byte { return append(dst, `"y":1`...) })
	if _, err := e.Write([]byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil || b.String() != `{}` {
		t.Errorf("%v %s", err, b.String())
	}
}
