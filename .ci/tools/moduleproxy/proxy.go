package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"golang.org/x/mod/module"
)

// client reads from proxies on the network and from folders (file:///...).
var client = func() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.RegisterProtocol("file", http.NewFileTransport(http.Dir("/")))
	return &http.Client{Transport: transport}
}()

// A proxy answers for one module from a checkout and passes everything else on.
type proxy struct {
	own       *checkout
	upstreams []string // in the order in which they are asked, without a slash at the end
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	escaped, request, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/@")
	path, err := module.UnescapePath(escaped)
	switch {
	case !ok || err != nil:
		p.passOn(w, r) // the checksum database, for instance
	case path == p.own.path:
		p.serveOwn(w, request)
	case strings.HasPrefix(path, p.own.path+"/"), strings.HasPrefix(p.own.path, path+"/"):
		// To find the module of a package the go command asks for each prefix of its path.
		http.Error(w, "not found: "+path+" is no module", http.StatusNotFound)
	default:
		p.passOn(w, r)
	}
}

// serveOwn answers a request about the checkout, such as `v/list` or `latest`.
func (p *proxy) serveOwn(w http.ResponseWriter, request string) {
	pack, err := p.own.pack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	switch request {
	case "v/list":
		fmt.Fprintln(w, pack.version)
	case "latest", "v/" + pack.version + ".info":
		_ = json.NewEncoder(w).Encode(map[string]any{"Version": pack.version, "Time": time.Now().UTC()})
	case "v/" + pack.version + ".mod":
		_, _ = w.Write(p.own.gomod)
	case "v/" + pack.version + ".zip":
		_, _ = w.Write(pack.zip)
	default:
		http.Error(w, "not found: the checkout is "+pack.version, http.StatusNotFound)
	}
}

// passOn answers with what the first upstream says that knows the file.
func (p *proxy) passOn(w http.ResponseWriter, r *http.Request) {
	for _, upstream := range p.upstreams {
		req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, upstream+r.URL.EscapedPath(), nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		res, err := client.Do(req)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		if res.StatusCode == http.StatusNotFound || res.StatusCode == http.StatusGone {
			res.Body.Close()
			continue
		}
		if res.ContentLength >= 0 {
			w.Header().Set("Content-Length", fmt.Sprint(res.ContentLength))
		}
		w.WriteHeader(res.StatusCode)
		_, err = io.Copy(w, res.Body)
		res.Body.Close()
		if err != nil {
			panic(http.ErrAbortHandler) // what arrived must not pass for the whole
		}
		return
	}
	http.Error(w, "not found: no module proxy has it", http.StatusNotFound)
}

// upstreams returns the proxies in GOPROXY, up to `direct` or `off`.
func upstreams(goproxy string) []string {
	var urls []string
	for url := range strings.FieldsFuncSeq(goproxy, func(r rune) bool { return r == ',' || r == '|' }) {
		url = strings.TrimSpace(url)
		if url == "direct" || url == "off" {
			break
		}
		urls = append(urls, strings.TrimSuffix(url, "/"))
	}
	return urls
}
