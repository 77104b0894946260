package soak

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/gatehouse/gatehouse/internal/testkit/harness"
)

// element is one of a list as an old API gives it, about 200 bytes.
const element = `{"aid":%d,"subject":"Notes on railway bridges, part 1","body":"Everything there is to say: notes on railway bridges.","tags":"history,town","state":1,"author":"u-1001","serial":9223372036854775807,"ctime":1704096000}`

// answerList is a list of the upstream's: of so many elements, or of so many bytes.
func answerList(w http.ResponseWriter, r *http.Request) {
	elements, _ := strconv.Atoi(r.URL.Query().Get("elements"))
	size, _ := strconv.Atoi(r.URL.Query().Get("bytes"))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if elements > 0 {
		var b bytes.Buffer
		writeList(bufio.NewWriter(&b), elements, 0)
		w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
		_, _ = b.WriteTo(w)
		return
	}
	writeList(bufio.NewWriterSize(w, 64<<10), 0, size)
}

func writeList(to *bufio.Writer, elements, size int) {
	_, _ = to.WriteString(`{"success":true,"result":{"total":"100000000","list":[`)
	for n, sent := 0, 0; n < elements || sent < size; n++ {
		if n > 0 {
			_ = to.WriteByte(',')
		}
		more, err := fmt.Fprintf(to, element, 1000+n)
		if err != nil {
			return
		}
		sent += more + 1
	}
	_, _ = to.WriteString(`]}}`)
	_ = to.Flush()
}

const restCaddyfile = `{
	admin $ADMIN
	persist_config off
	default_bind 127.0.0.1
	log {
		level ERROR
	}
}
http://$ID {
	respond 204
}
http://$API {
	handle /untouched/* {
		rewrite /list?{query}
		reverse_proxy $UPSTREAM
	}
	handle {
		api_rest {
			to {
				reverse_proxy $UPSTREAM {
					transport http {
						keepalive 1s
						keepalive_idle_conns_per_host 1000
					}
				}
			}
			undeclared pass
			resource things {
				upstream GET /things /list?elements=100
				upstream GET /things/{id} /get?aid={id}
				$LIST
			}
			resource heaps {
				upstream GET /heaps /list?bytes=$BYTES
				upstream GET /heaps/{id} /get?aid={id}
				$LIST
			}
			errors {
				from json /code /message
				fail_when /success == false status 422
			}
		}
	}
}
`

const restList = `list {
					max 100000000
					items /result/list
					total /result/total
				}
				id /aid
				rename id=aid title=subject created_at=ctime
				values state published=1 draft=0
				links self`

// restSite is the program with api_rest, and nothing else of ours, in front of the
// upstream.
func restSite(t *testing.T, upstream string, bytes int) (*site, *harness.Process) {
	t.Helper()
	s := &site{Gateway: harness.Prepare(t, "$UPSTREAM", upstream, "$BYTES", strconv.Itoa(bytes), "$LIST", restList), upstream: upstream, plain: newClient(t, nil)}
	return s, s.Run(t, restCaddyfile)
}
