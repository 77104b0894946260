package gateway

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/oauth"
	"github.com/gatehouse/gatehouse/module/store"
	"github.com/gatehouse/gatehouse/module/token"
	"github.com/gatehouse/gatehouse/module/userstore"
)

// The grades of a finding.
const (
	gradeOK   = "ok"
	gradeWarn = "warn" // works, and should be changed
	gradeFail = "fail" // does not work, or is dangerous
)

// finding is what one look of the doctor found.
type finding struct {
	Check   string `json:"check"`
	Grade   string `json:"grade"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

func fine(check, format string, args ...any) finding {
	return finding{Check: check, Grade: gradeOK, Message: fmt.Sprintf(format, args...)}
}

func warned(check, remedy, format string, args ...any) finding {
	return finding{Check: check, Grade: gradeWarn, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

func broken(check, remedy, format string, args ...any) finding {
	return finding{Check: check, Grade: gradeFail, Message: fmt.Sprintf(format, args...), Remedy: remedy}
}

// examination is what the gateway finds when it looks at itself.
type examination struct {
	Issuer   string    `json:"issuer"`
	Findings []finding `json:"findings"`
}

// examineTimeout bounds a look at what may hang: a store or directory elsewhere.
const examineTimeout = 5 * time.Second

func examine(c *adminCall) (adminAnswer, error) {
	if _, err := c.query(); err != nil {
		return adminAnswer{}, err
	}
	found := examination{Issuer: c.issuer.String(), Findings: []finding{fine("app", "the running configuration has a gateway, issuer %s", c.issuer)}}
	for _, look := range []func(context.Context, *App) []finding{
		lookAtStore, lookAtFiles, lookAtRevocations, lookAtKeys, lookAtDirectory, lookAtClients, lookAtIssuer,
	} {
		ctx, cancel := context.WithTimeout(c.r.Context(), examineTimeout)
		found.Findings = append(found.Findings, look(ctx, c.App)...)
		cancel()
	}
	return okay(found)
}

// slowStore is how long a round trip may take before people wait for it: a sign-in makes
// several.
const slowStore = 100 * time.Millisecond

// lookAtStore writes, reads and removes a record of no meaning.
func lookAtStore(ctx context.Context, a *App) []finding {
	const check, remedy = "store", "the message says what is wrong; look at the disk or the connection, and at the global option `store`"
	value := []byte(secret.ID())
	key := store.Key{Kind: store.KindProbe, ID: secret.ID()}
	begun := time.Now()
	_, err := a.core.store.Create(ctx, store.Record{Key: key, Value: value, Expires: begun.Add(time.Minute)})
	var got store.Record
	if err == nil {
		got, err = a.core.store.Get(ctx, key)
	}
	if err == nil && string(got.Value) != string(value) {
		err = errors.New("what was read is not what was written")
	}
	if err == nil {
		err = a.core.store.Delete(ctx, key)
	}
	took := time.Since(begun)
	switch {
	case err != nil:
		return []finding{broken(check, remedy, "the store cannot be used: %v", err)}
	case took > slowStore:
		return []finding{warned(check, "look at the load of the disk or server and at the way to it",
			"writing, reading and removing a record took %v", took.Round(time.Millisecond))}
	}
	return []finding{fine(check, "writing, reading and removing a record took %v", took.Round(10*time.Microsecond))}
}

// keepsFiles is implemented by stores that keep secrets in files of this machine.
type keepsFiles interface {
	// Files returns their paths, that of the state first. It MUST NOT wait for anything.
	Files() []string
}

// lookAtFiles reports files that others of this machine can read, and a state whose file
// was deleted: the open file goes on to work and is gone with the process.
func lookAtFiles(ctx context.Context, a *App) []finding {
	backend, err := a.core.store.open(ctx)
	if err != nil {
		return nil // said already
	}
	keeper, ok := backend.(keepsFiles)
	if !ok {
		return nil
	}
	const check = "files"
	for i, path := range keeper.Files() {
		info, err := os.Stat(path)
		if errors.Is(err, os.ErrNotExist) && i == 0 {
			return []finding{broken(check, "put a backup in its place and restart, or restart to begin with an empty store",
				"%s is gone: what the gateway knows is lost when it ends", path)}
		}
		if errors.Is(err, os.ErrNotExist) {
			continue // the secret may be configured
		}
		if err != nil {
			return []finding{warned(check, "make the file readable for the gateway", "%v", err)}
		}
		if open := info.Mode().Perm() & 0o077; open != 0 {
			return []finding{broken(check, "chmod 600 "+path, "%s has the mode %04o: others of this machine can read signing keys or what seals them", path, info.Mode().Perm())}
		}
	}
	return []finding{fine(check, "the files of the store are the gateway's alone")}
}

func lookAtRevocations(_ context.Context, a *App) []finding {
	if _, err := a.core.revocations.Check(&token.Access{}); err != nil {
		return []finding{broken("revocations", "the store's log lines say why; guards answer 503 until the feed is back", "%v", err)}
	}
	return []finding{fine("revocations", "what is revoked is known")}
}

// lookAtKeys reports when the signing keys change.
func lookAtKeys(ctx context.Context, a *App) []finding {
	const check = "keys"
	keys, err := a.core.ring.List(ctx)
	switch {
	case err != nil:
		return []finding{broken(check, "the message says what is wrong; an unreadable ring often means another `secret` than before", "the signing keys cannot be read: %v", err)}
	case len(keys) == 0:
		return []finding{fine(check, "there is no signing key yet; the first one is made with the first token")}
	}
	every := a.core.tending.every()
	var out []finding
	for _, k := range keys {
		if k.State != token.KeySigns {
			continue
		}
		since := k.Created
		if k.SignsFrom.After(since) {
			since = k.SignsFrom
		}
		next := slices.ContainsFunc(keys, func(n token.SigningKey) bool { return n.Alg == k.Alg && n.State == token.KeyNext })
		switch {
		case next:
			out = append(out, fine(check, "%s: key %s signs since %s, its successor is published", k.Alg, k.Kid, day(since)))
		case time.Since(since) > every+24*time.Hour:
			out = append(out, warned(check, "look for lines of the logger gatehouse.keys, and run `caddy gatehouse keys rotate`",
				"%s: key %s signs since %s and should have been replaced", k.Alg, k.Kid, day(since)))
		default:
			out = append(out, fine(check, "%s: key %s signs since %s, replaced about %s", k.Alg, k.Kid, day(since), day(since.Add(every))))
		}
	}
	return out
}

// lookAtDirectory asks for a user whom nobody has.
func lookAtDirectory(ctx context.Context, a *App) []finding {
	const check = "users"
	begun := time.Now()
	if own, ok := a.users.(*userstore.Users); ok {
		first, err := own.List(ctx, "", 1)
		switch {
		case err != nil || len(first) > 0:
		case a.needsUsers(ctx):
			return []finding{warned(check, "run `caddy gatehouse user add`, or name another directory in the global option gatehouse", "there are no users, so nobody can sign in")}
		default:
			return []finding{fine(check, "there are no users, and no client needs any")}
		}
	}
	if _, _, err := a.users.Lookup(ctx, "doctor-"+secret.ID()); err != nil {
		return []finding{broken(check, "the message says what is wrong; look at the global option `users`", "the user directory cannot be asked: %v", err)}
	}
	took := time.Since(begun)
	if took > time.Second {
		return []finding{warned(check, "look at the directory's server and at the way to it", "the user directory took %v to answer", took.Round(time.Millisecond))}
	}
	return []finding{fine(check, "the user directory answers, in %v", took.Round(10*time.Microsecond))}
}

// needsUsers reports whether a client sends people here to sign in.
func (a *App) needsUsers(ctx context.Context) bool {
	all, _ := a.everyClient(ctx) // what cannot be read is said elsewhere
	return slices.ContainsFunc(all, func(c clientView) bool { return slices.Contains(c.Grants, string(oauth.AuthorizationCode)) })
}

// maxExamined is how many stored clients are looked at.
const maxExamined = 1000

// everyClient lists the clients of configuration and store.
func (a *App) everyClient(ctx context.Context) ([]clientView, error) {
	var all []clientView
	for _, id := range sortedKeys(a.clients.byID) {
		all = append(all, configured(a.clients.byID[id]))
	}
	kept, err := a.clients.stored.List(ctx, "", maxExamined)
	for _, d := range kept {
		if a.clients.byID[d.ID] == nil {
			all = append(all, clientView{sourceStore, d})
		}
	}
	return all, err
}

// lookAtClients reports what of clients is on its way out, or risky.
func lookAtClients(ctx context.Context, a *App) []finding {
	const check = "clients"
	all, err := a.everyClient(ctx)
	if err != nil {
		return []finding{broken(check, "look at the store", "the clients in the store cannot be read: %v", err)}
	}
	var out []finding
	today := time.Now().UTC().Format(time.DateOnly)
	for _, c := range all {
		for _, g := range sortedKeys(c.DeprecatedGrants) {
			if end := c.DeprecatedGrants[g]; today >= end {
				out = append(out, warned(check, "remove it from the client", "client %s: the grant %s has ended on %s and is refused", c.ID, g, end))
			} else {
				out = append(out, warned(check, "move the client to authorization_code with PKCE before that day", "client %s may use the deprecated grant %s until %s", c.ID, g, end))
			}
		}
		if !c.Native && slices.ContainsFunc(c.RedirectURIs, func(u string) bool { return strings.HasPrefix(u, "http://") }) {
			out = append(out, warned(check, "register an https address, or mark a program on the user's device as `native`", "client %s: a redirect_uri is plain http", c.ID))
		}
		if c.Trusted && c.Public {
			out = append(out, warned(check, "remove `trusted`: people should see who asks", "client %s is public and trusted: any program can pose as it, and nobody is asked", c.ID))
		}
	}
	if len(out) == 0 {
		return []finding{fine(check, "nothing to remark about %d clients", len(all))}
	}
	return out
}

func lookAtIssuer(_ context.Context, a *App) []finding {
	if a.issuer.Scheme == "http" {
		return []finding{warned("issuer", "for anything but trying out, use an https issuer", "the issuer %s is plain http: it works on this machine alone", a.issuer)}
	}
	return nil
}
