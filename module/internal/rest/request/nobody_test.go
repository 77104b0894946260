package request_test

import (
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse/gatehouse/module/internal/rest/request"
)

func TestBodyThatIsNotSentMustSayNothing(t *testing.T) {
	for body, want := range map[string]string{
		"": "", " \r\n": "", "{}": "", " { }": "", "[\n\n]": "", "null": "", "\tnull\n": "", `{"cascade":true}`: "a DELETE has no body here",
		"[]": "", "[1]": "a DELETE has no body here", "a=1": "a DELETE has no body here", "0": "a DELETE has no body here",
		strings.Repeat(" ", 17): "a DELETE has no body here", "{}" + strings.Repeat(" ", 14): "", "{}" + strings.Repeat(" ", 20) + "x": "a DELETE has no body here",
	} {
		for _, length := range []int64{int64(len(body)), -1} {
			r := httptest.NewRequest("DELETE", "/things/7", io.NopCloser(strings.NewReader(body)))
			r.ContentLength = length
			got := ""
			if refused := request.RefuseBody(r); refused != nil {
				got = refused.Message
			}
			if got != want {
				t.Errorf("%q of length %d: %q, want %q", body, length, got, want)
			}
		}
	}
	r := httptest.NewRequest("DELETE", "/things/7", io.NopCloser(iotest.ErrReader(errors.New("cut off"))))
	if r.ContentLength = -1; request.RefuseBody(r) == nil {
		t.Error("a body that cannot be read passes")
	}
}
