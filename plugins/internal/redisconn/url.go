package redisconn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

type mode int

const (
	single mode = iota
	sentinel
	cluster
)

// schemes are the supported URL schemes.
var schemes = map[string]struct {
	mode   mode
	secure bool
}{
	"redis": {single, false}, "rediss": {single, true},
	"redis+sentinel": {sentinel, false}, "rediss+sentinel": {sentinel, true},
	"redis+cluster": {cluster, false}, "rediss+cluster": {cluster, true},
}

// maxNodes bounds the hosts of a URL: further servers are found through them.
const maxNodes = 64

var errForm = errors.New("the address of Redis: expected redis://host:port/db, redis+sentinel://host,host/master/db or redis+cluster://host,host, with rediss for TLS")

// Parse parses a URL without placeholders. No error quotes what may be a password.
func Parse(address string) (Settings, error) {
	return parseAddress(address, func(text string) (string, error) { return text, nil })
}

// parseAddress splits the URL before placeholders are replaced, so that a password may contain
// any character. A URL that is a single placeholder is replaced first.
func parseAddress(address string, replace func(string) (string, error)) (Settings, error) {
	s := Settings{Prefix: defaultPrefix, password: hideText(""), sentinelPassword: hideText(""), key: hideText("")}
	if address == "" {
		return s, errForm
	}
	if strings.HasPrefix(address, "{") {
		var err error
		if address, err = replace(address); err != nil {
			return s, fmt.Errorf("the address of Redis: %w", err)
		}
		replace = func(text string) (string, error) { return text, nil }
	}
	name, rest, found := strings.Cut(address, "://")
	scheme, known := schemes[name]
	if !found || !known {
		return s, errForm
	}
	s.mode, s.secure = scheme.mode, scheme.secure
	authority := authorityOf(rest)
	path := rest[len(authority):]
	user, password, hosts := cutCredentials(authority)
	var err error
	if s.username, err = credential(user, replace); err != nil {
		return s, err
	}
	if password, err = credential(password, replace); err != nil {
		return s, err
	}
	s.password = hideText(password)
	if hosts, err = replace(hosts); err != nil {
		return s, fmt.Errorf("the address of Redis: %w", err)
	}
	if path, err = replace(path); err != nil {
		return s, fmt.Errorf("the address of Redis: %w", err)
	}
	if err := s.setHosts(hosts); err != nil {
		return s, err
	}
	return s, s.setPath(path)
}

// credential decodes what is written in the URL itself; the values of placeholders are used as
// they are.
func credential(text string, replace func(string) (string, error)) (string, error) {
	replaced, err := replace(text)
	if err != nil {
		return "", fmt.Errorf("the address of Redis: %w", err)
	}
	if replaced != text {
		return replaced, nil
	}
	decoded, err := url.PathUnescape(text)
	if err != nil { // its text would quote the password
		return "", errors.New("the address of Redis: user and password must be percent-encoded")
	}
	return decoded, nil
}

func (s *Settings) setHosts(hosts string) error {
	port := "6379"
	if s.mode == sentinel {
		port = "26379"
	}
	list := strings.Split(hosts, ",")
	if len(list) > maxNodes {
		return fmt.Errorf("the address of Redis: at most %d hosts", maxNodes)
	}
	if s.mode == single && len(list) > 1 {
		return errors.New("the address of Redis: redis:// takes one server; for several, use redis+sentinel:// or redis+cluster://")
	}
	for i, host := range list {
		if !strings.Contains(host, ":") || strings.HasSuffix(host, "]") {
			host = host + ":" + port
		}
		name, number, err := net.SplitHostPort(host)
		if n, portErr := strconv.Atoi(number); err != nil || portErr != nil || n < 1 || n > 65535 || name == "" || strings.ContainsAny(name, " /?#@%{}") {
			return errForm
		}
		list[i] = net.JoinHostPort(name, number)
	}
	s.nodes = strings.Join(list, ",")
	return nil
}

func (s *Settings) setPath(path string) error {
	if strings.ContainsAny(path, "?#") {
		return errors.New("the address of Redis: options belong in the block, not in a query")
	}
	path = strings.Trim(path, "/")
	if s.mode == sentinel {
		if s.master, path, _ = strings.Cut(path, "/"); s.master == "" {
			return errors.New("the address of Redis: redis+sentinel:// needs the name of the primary, such as redis+sentinel://host,host/mymaster")
		}
	}
	if path == "" {
		return nil
	}
	n, err := strconv.Atoi(path)
	if err != nil || n < 0 || n > 1<<16 {
		return errors.New("the address of Redis: expected the number of a database after the last slash")
	}
	if s.mode == cluster && n != 0 {
		return errors.New("the address of Redis: a cluster has only database 0")
	}
	s.db = n
	return nil
}

// authorityOf returns the part before the path. Placeholders in it may contain slashes.
func authorityOf(rest string) string {
	if i := strings.IndexByte(maskPlaceholders(rest), '/'); i >= 0 {
		return rest[:i]
	}
	return rest
}

// cutCredentials separates user and password from the hosts.
func cutCredentials(authority string) (user, password, hosts string) {
	masked := maskPlaceholders(authority)
	at := strings.LastIndexByte(masked, '@')
	if at < 0 {
		return "", "", authority
	}
	user, hosts = authority[:at], authority[at+1:]
	if colon := strings.IndexByte(masked[:at], ':'); colon >= 0 {
		user, password = user[:colon], user[colon+1:]
	}
	return user, password, hosts
}

// maskPlaceholders replaces every byte of a placeholder, so that separators outside of
// placeholders can be found.
func maskPlaceholders(s string) string {
	masked := []byte(s)
	depth := 0
	for i, c := range masked {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth != 0:
			masked[i] = '_'
		}
	}
	return string(masked)
}
