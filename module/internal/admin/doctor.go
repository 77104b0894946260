package admin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/clientstore"
	"github.com/gatehouse/gatehouse/module/internal/keyring"
	"github.com/gatehouse/gatehouse/module/internal/revocationlist"
	"github.com/gatehouse/gatehouse/module/internal/secret"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
	"github.com/gatehouse/gatehouse/module/store"
)

// examineTimeout bounds a check of what may hang: a remote store or directory.
const examineTimeout = 5 * time.Second

func examine(c *call) (any, error) {
	out := adminapi.Examination{Issuer: c.Issuer.String()}
	out.Findings.OK("app", "the running configuration has a gateway, issuer %s", c.Issuer)
	for _, check := range []func(context.Context, *adminapi.Findings){
		c.checkStore, c.checkStoreServer, c.checkFiles, c.checkLoadedFiles, c.checkLimiter, c.checkRevocations, c.checkKeys,
		c.checkDirectory, c.checkPolls, c.checkCapacity, c.checkClients, c.checkIssuer, c.checkPorts,
		func(ctx context.Context, _ *adminapi.Findings) {
			out.VariantB = c.anyClient(ctx, func(c *adminapi.Client) bool { return c.VariantB })
		},
	} {
		ctx, cancel := context.WithTimeout(c.r.Context(), examineTimeout)
		check(ctx, &out.Findings)
		cancel()
	}
	return out, nil
}

// slowStore is how long a round trip may take before people wait for it: a sign-in makes
// several.
const slowStore = 100 * time.Millisecond

// checkStore writes, reads and removes a dummy record.
func (g *Config) checkStore(ctx context.Context, out *adminapi.Findings) {
	value := []byte(secret.ID())
	key := store.Key{Kind: store.KindProbe, ID: secret.ID()}
	begun := time.Now()
	_, err := g.Store.Create(ctx, store.Record{Key: key, Value: value, Expires: begun.Add(time.Minute)})
	var got store.Record
	if err == nil {
		got, err = g.Store.Get(ctx, key)
	}
	if err == nil && string(got.Value) != string(value) {
		err = errors.New("what was read is not what was written")
	}
	if err == nil {
		err = g.Store.Delete(ctx, key)
	}
	took := time.Since(begun)
	switch {
	case err != nil:
		out.Fail("store", "the message says what is wrong; look at the disk or the connection, and at the global option `store`",
			"the store cannot be used: %s", WithoutCredentials(err))
	case took > slowStore:
		out.Warn("store", "look at the load of the disk or server and at the way to it",
			"writing, reading and removing a record took %v", took.Round(time.Millisecond))
	default:
		out.OK("store", "writing, reading and removing a record took %v", took.Round(10*time.Microsecond))
	}
}

// FileStore is implemented by stores that keep secrets in files of this machine.
type FileStore interface {
	// Files returns their paths, that of the state first. It MUST NOT wait for anything.
	Files() []string
}

// checkFiles reports files that others of this machine can read, and a state whose file
// was deleted: the open file still works, and is lost when the process ends.
func (g *Config) checkFiles(ctx context.Context, out *adminapi.Findings) {
	backend, _ := g.OpenStore(ctx) // checkStore reports the error
	keeper, ok := backend.(FileStore)
	if !ok {
		return
	}
	for i, path := range keeper.Files() {
		switch info, err := os.Stat(path); {
		case errors.Is(err, os.ErrNotExist) && i > 0:
			continue // the secret may be configured
		case errors.Is(err, os.ErrNotExist):
			out.Fail("files", "put a backup in its place and restart, or restart to begin with an empty store",
				"%s is gone: what the gateway knows is lost when it ends", path)
			return
		case err != nil:
			out.Warn("files", "make the file readable for the gateway", "%v", err)
			return
		case info.Mode().Perm()&0o077 != 0:
			out.Fail("files", "chmod 600 "+path, "%s has the mode %04o: others of this machine can read signing keys or what seals them", path, info.Mode().Perm())
			return
		}
	}
	out.OK("files", "the files of the store are the gateway's alone")
}

func (g *Config) checkRevocations(_ context.Context, out *adminapi.Findings) {
	if _, err := g.Revocations.Revoked(revocationlist.Token{}); err != nil {
		out.Fail("revocations", "the store's log lines say why; guards answer 503 until the feed is back", "%v", err)
		return
	}
	out.OK("revocations", "what is revoked is known")
}

// checkKeys reports whether this node can sign, and when the signing keys change.
func (g *Config) checkKeys(ctx context.Context, out *adminapi.Findings) {
	const check = "keys"
	keys, err := g.Ring.List(ctx)
	switch {
	case err != nil:
		out.Fail(check, "the message says what is wrong; an unreadable ring often means another `secret` than before", "the signing keys cannot be read: %v", err)
		return
	case len(keys) == 0:
		out.OK(check, "there is no signing key yet; the first one is made with the first token")
		return
	}
	if err := g.Ring.CheckSigners(ctx); err != nil {
		out.Fail(check, "have `secret` name the secret that they were encrypted with, too, behind a new one, and restart",
			"this node cannot sign tokens: %v", err)
		return
	}
	every := g.KeyAge()
	for _, k := range keys {
		if k.State != keyring.KeySigns {
			continue
		}
		since := k.Created
		if k.SignsFrom.After(since) {
			since = k.SignsFrom
		}
		next := slices.ContainsFunc(keys, func(n keyring.SigningKey) bool { return n.Alg == k.Alg && n.State == keyring.KeyNext })
		switch {
		case next:
			out.OK(check, "%s: key %s signs since %s, its successor is published", k.Alg, k.Kid, adminapi.Day(since))
		case time.Since(since) > every+24*time.Hour:
			out.Warn(check, "look for lines of the logger gatehouse.keys, and run `caddy gatehouse keys rotate`",
				"%s: key %s signs since %s and should have been replaced", k.Alg, k.Kid, adminapi.Day(since))
		default:
			out.OK(check, "%s: key %s signs since %s, replaced about %s", k.Alg, k.Kid, adminapi.Day(since), adminapi.Day(since.Add(every)))
		}
	}
}

// checkDirectory looks up a user who does not exist.
func (g *Config) checkDirectory(ctx context.Context, out *adminapi.Findings) {
	const check = "users"
	begun := time.Now()
	if own, ok := g.Users.(*userstore.Users); ok {
		if first, err := own.List(ctx, "", 1); err == nil && len(first) == 0 {
			if g.needsUsers(ctx) {
				out.Warn(check, "run `caddy gatehouse user add`, or name another directory in the global option gatehouse", "there are no users, so nobody can sign in")
			} else {
				out.OK(check, "there are no users, and no client needs any")
			}
			return
		}
	}
	_, _, err := g.Users.Lookup(ctx, "doctor-"+secret.ID())
	took := time.Since(begun)
	if d, ok := g.Users.(interface{ Fault(context.Context) error }); ok && err == nil {
		if fault := d.Fault(ctx); fault != nil {
			out.Warn(check, "mend what the message names; until then the users that were read before serve", "changed users are not read: %v", fault)
			return
		}
	}
	switch {
	case err != nil:
		out.Fail(check, "the message says what is wrong; look at the global option `users`", "the user directory cannot be asked: %v", err)
	case took > time.Second:
		out.Warn(check, "look at the directory's server and at the way to it", "the user directory took %v to answer", took.Round(time.Millisecond))
	default:
		out.OK(check, "the user directory answers, in %v", took.Round(10*time.Microsecond))
	}
}

// needsUsers reports whether a client sends people, or their passwords, here to sign in.
func (g *Config) needsUsers(ctx context.Context) bool {
	return g.anyClient(ctx, (*adminapi.Client).ActsForPeople)
}

// anyClient reports whether something is true of a client. checkClients reports errors.
func (g *Config) anyClient(ctx context.Context, is func(*adminapi.Client) bool) bool {
	for c, err := range g.everyClient(ctx) {
		if err == nil && is(&c) {
			return true
		}
	}
	return false
}

const (
	// maxExamined is how many stored clients are looked at, and examinedPage how many are read at a time.
	maxExamined  = clientstore.MaxSeen
	examinedPage = 500
	// maxClientFindings is how many of the problems of clients are listed.
	maxClientFindings = 100
)

// everyClient yields the clients of configuration and store, or the error that ends it.
func (g *Config) everyClient(ctx context.Context) iter.Seq2[adminapi.Client, error] {
	return func(yield func(adminapi.Client, error) bool) {
		for _, id := range slices.Sorted(maps.Keys(g.Configured)) {
			if !yield(configured(g.Configured[id]), nil) {
				return
			}
		}
		after := ""
		for range maxExamined / examinedPage {
			kept, err := g.Stored.List(ctx, after, examinedPage)
			if err != nil {
				yield(adminapi.Client{}, err)
				return
			}
			for _, d := range kept {
				if after = d.ID; g.Configured[d.ID] == nil && !yield(stored(d), nil) {
					return
				}
			}
			if len(kept) < examinedPage {
				return
			}
		}
	}
}

// checkClients reports what of clients is on its way out, or risky.
func (g *Config) checkClients(ctx context.Context, out *adminapi.Findings) {
	const check = "clients"
	var found adminapi.Findings
	n, late := 0, false
	for c, err := range g.everyClient(ctx) {
		if late = err != nil && ctx.Err() != nil && n > 0; late {
			break
		}
		if err != nil {
			out.Fail(check, "look at the store", "the clients in the store cannot be read: %v", err)
			return
		}
		n++
		checkClient(check, c, &found)
	}
	*out = append(*out, found[:min(len(found), maxClientFindings)]...)
	switch more := len(found) - maxClientFindings; {
	case late:
		out.Warn(check, "see why the store is slow", "checked %s, the others would have taken longer than %v", adminapi.Count(n, "client"), examineTimeout)
	case more > 0:
		out.Warn(check, "mend those above and run this again", "%s of clients more", adminapi.Count(more, "problem"))
	case len(found) == 0:
		out.OK(check, "checked %s, no problems", adminapi.Count(n, "client"))
	}
}

func checkClient(check string, c adminapi.Client, out *adminapi.Findings) {
	today := time.Now().UTC().Format(time.DateOnly)
	for _, g := range slices.Sorted(maps.Keys(c.DeprecatedGrants)) {
		if end := c.DeprecatedGrants[g]; today >= end {
			out.Warn(check, "remove it from the client", "client %s: the grant %s has ended on %s and is refused", c.ID, g, end)
		} else {
			out.Warn(check, "move the client to authorization_code with PKCE before that day", "client %s may use the deprecated grant %s until %s", c.ID, g, end)
		}
	}
	if !c.Native && slices.ContainsFunc(c.RedirectURIs, func(u string) bool { return strings.HasPrefix(u, "http://") }) {
		remedy := "register an https address, or mark a program on the user's device as `native`"
		if c.VariantB {
			remedy = "register an https address"
		}
		out.Warn(check, remedy, "client %s: a redirect_uri is plain http", c.ID)
	}
	if c.Trusted && c.Public {
		out.Warn(check, "remove `trusted`: people should see who asks", "client %s is public and trusted: any program can pose as it, and nobody is asked", c.ID)
	}
}

func (g *Config) checkIssuer(_ context.Context, out *adminapi.Findings) {
	if g.Issuer.Scheme == "http" {
		out.Warn("issuer", "for anything but trying out, use an https issuer", "the issuer %s is plain http: it works on this machine alone", g.Issuer)
	}
}

// SharedPortRemedy is what to do about a port on which two processes listen.
const SharedPortRemedy = "end the other process, or give one of the two other ports"

func (g *Config) checkPorts(_ context.Context, out *adminapi.Findings) {
	if shared := g.SharedPorts(); len(shared) > 0 {
		out.Fail("ports", SharedPortRemedy, "another process listens on %s as well, and gets some of the connections; if it is a Caddy with the same admin endpoint, it answers some of the commands too", fmt.Sprint(shared))
	}
}
