package ldap

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-ldap/ldap/v3"
	"go.uber.org/zap"

	"github.com/gatehouse/gatehouse/module/directory"
)

// dir is an open directory. It belongs to no configuration.
type dir struct {
	s        *settings
	log      *zap.Logger
	searches *pool // bound as bind_dn
	binds    *pool // bound as whoever signed in last
}

func openDirectory(s *settings, now func() time.Time, log *zap.Logger) *dir {
	return &dir{
		s:   s,
		log: log,
		searches: newPool(s, now, func(c *ldap.Conn) error {
			if s.bindDN == "" {
				return nil
			}
			if err := c.Bind(s.bindDN, s.password); err != nil {
				return fmt.Errorf("the LDAP server refuses bind_dn: %w", err)
			}
			return nil
		}),
		binds: newPool(s, now, nil),
	}
}

// Close ends the idle connections; those in use end with their use.
func (d *dir) Close() error {
	d.searches.closePool()
	d.binds.closePool()
	return nil
}

// Identify implements [directory.Directory], by the search that Authenticate makes too, for the ID alone: the less
// there is to read of a user, the less the time tells. An entry that cannot be used is nobody: it must not answer
// differently before the password than an unknown name does.
func (d *dir) Identify(ctx context.Context, username string) (string, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, d.s.timeout)
	defer cancel()
	entry, err := d.findByName(ctx, username, []string{d.s.id})
	if err != nil || entry == nil {
		return "", false, err
	}
	id, err := d.s.userID(entry)
	if err != nil || directory.CheckID(id) != nil {
		return "", false, nil
	}
	return id, true, nil
}

// findByName searches for the entry of what was typed, nil for none.
func (d *dir) findByName(ctx context.Context, username string, attributes []string) (*ldap.Entry, error) {
	name, ok := normalizeName(username)
	if !ok {
		return nil, nil
	}
	return d.findEntry(ctx, fillFilter(d.s.filter, ldap.EscapeFilter(name)), attributes)
}

// normalizeName returns what is searched for; ok is false for what no user is called.
func normalizeName(username string) (name string, ok bool) {
	name, ok = directory.Typed(username)
	return name, ok && !strings.ContainsFunc(name, isIgnorable)
}

// Authenticate implements [directory.Directory].
func (d *dir) Authenticate(ctx context.Context, username, password string) (directory.User, bool, error) {
	// An empty password makes an unauthenticated bind, which succeeds (RFC 4513 section 5.1.2).
	if password == "" || len(password) > directory.MaxPassword {
		return directory.User{}, false, nil
	}
	if _, ok := normalizeName(username); !ok {
		return directory.User{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.s.timeout)
	defer cancel()
	entry, err := d.findByName(ctx, username, d.s.attributes)
	if err != nil {
		return directory.User{}, false, err
	}
	locked, err := d.isLocked(ctx, entry)
	if err != nil {
		return directory.User{}, false, err
	}
	same, err := d.checkPassword(ctx, entry, password)
	if err != nil || !same || locked {
		return directory.User{}, false, err
	}
	u, err := d.s.userFrom(entry)
	if err != nil {
		return directory.User{}, false, err
	}
	return u, true, nil
}

// Lookup implements [directory.Directory].
func (d *dir) Lookup(ctx context.Context, id string) (directory.User, bool, error) {
	wanted, ok := d.s.idFilter(id)
	if !ok {
		return directory.User{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.s.timeout)
	defer cancel()
	entry, err := d.findEntry(ctx, "(&"+wanted+fillFilter(d.s.filter, "*")+")", d.s.attributes)
	if err != nil || entry == nil {
		return directory.User{}, false, err
	}
	u, err := d.s.userFrom(entry)
	if err != nil {
		return directory.User{}, false, err
	}
	// Most attributes match whatever the letter case, and subjects do not.
	if u.ID != id {
		return directory.User{}, false, nil
	}
	u.Locked, err = d.isLocked(ctx, entry)
	if err != nil {
		return directory.User{}, false, err
	}
	return u, true, nil
}

// isIgnorable are the characters, besides control characters, that servers ignore in a name
// (RFC 4518 section 2.2), so that one user would have many.
func isIgnorable(r rune) bool { return unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar }

// findEntry searches for the one entry that matches, nil for none.
func (d *dir) findEntry(ctx context.Context, filter string, attributes []string) (*ldap.Entry, error) {
	entries, err := d.searchEntries(ctx, ldap.SearchRequest{
		BaseDN: d.s.base, Scope: ldap.ScopeWholeSubtree, SizeLimit: 2, Filter: filter, Attributes: attributes,
	})
	switch {
	case err != nil:
		return nil, err
	case len(entries) > 1:
		return nil, errors.New("more than one entry of the LDAP server matches: the filter must find one user only, and id must be unique")
	case len(entries) == 0:
		return nil, nil
	case entries[0].DN == "":
		return nil, errors.New("the LDAP server found an entry without a name") // to bind as it would be to bind as nobody
	}
	return entries[0], nil
}

// searchEntries asks and passes over references to other servers: who is a user is this server's to say.
func (d *dir) searchEntries(ctx context.Context, request ldap.SearchRequest) (entries []*ldap.Entry, err error) {
	request.DerefAliases, request.EnforceSizeLimit = ldap.NeverDerefAliases, true
	if deadline, ok := ctx.Deadline(); ok {
		request.TimeLimit = max(1, int(time.Until(deadline)/time.Second))
	}
	err = d.searches.withConn(ctx, func(c *ldap.Conn) error {
		result, err := c.Search(&request)
		entries = nil
		if result != nil {
			entries = result.Entries
		}
		return err
	})
	switch {
	case err == nil, ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded) && len(entries) > 1:
		return entries, nil // more than one is all that matters
	case ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject):
		return nil, fmt.Errorf("the LDAP server has no entry %q, or bind_dn may not read it: %w", request.BaseDN, err)
	}
	return nil, fmt.Errorf("searching the LDAP server: %w", err)
}

// isLocked tells whether a user is. Somebody unknown costs the same question.
func (d *dir) isLocked(ctx context.Context, entry *ldap.Entry) (bool, error) {
	if d.s.lockedAttribute != "" && entry != nil {
		return isLocking(d.s.lockedAttribute, entry.GetEqualFoldAttributeValues(d.s.lockedAttribute)), nil
	}
	if d.s.lockedFilter == "" {
		return false, nil
	}
	dn := d.s.base
	if entry != nil {
		dn = entry.DN
	}
	entries, err := d.searchEntries(ctx, ldap.SearchRequest{
		BaseDN: dn, Scope: ldap.ScopeBaseObject, SizeLimit: 1, Filter: d.s.lockedFilter, Attributes: []string{"1.1"}, // none
	})
	return len(entries) > 0 && entry != nil, err
}

// lockedTime is the attribute in which a password policy (draft-behera-ldap-password-policy) keeps when a user was locked.
const lockedTime = "pwdAccountLockedTime"

// isLocking reports whether such values of an attribute lock their user. In lockedTime only the year 0 does, a lock by an
// administrator. Any other time means too many wrong passwords, which may be a stranger's and must end no grants: the server
// itself refuses binds then, and keeps the time beyond the end of the lock, until the next successful bind.
func isLocking(attribute string, values []string) bool {
	for _, v := range values {
		if strings.EqualFold(attribute, lockedTime) && !strings.HasPrefix(v, "0000") {
			continue
		}
		switch strings.ToUpper(strings.TrimSpace(v)) {
		case "", "FALSE", "NO", "0":
		default:
			return true
		}
	}
	return false
}

// checkPassword tells whether the password is the entry's. For somebody unknown bind_dn gives its own: a wrong
// password for it might lock it, and a name that is not there would be answered without a hash.
func (d *dir) checkPassword(ctx context.Context, entry *ldap.Entry, password string) (same bool, err error) {
	dn := d.s.bindDN
	switch {
	case entry != nil:
		dn = entry.DN
	case dn == "":
		dn = d.nobody()
	default:
		password = d.s.password
	}
	err = d.bindAs(ctx, dn, password)
	if isUnwilling(err) {
		if general := d.refusalOfAll(ctx, err); general != nil {
			return false, general
		}
	}
	// One table for the known and the unknown: a server in trouble must not tell them apart.
	switch {
	case err == nil:
		return entry != nil, nil
	case errors.Is(err, errMustChange):
		d.logMustChange(entry)
		return false, nil
	case isUnwilling(err), ldap.IsErrorAnyOf(err,
		ldap.LDAPResultInvalidCredentials,
		ldap.LDAPResultNoSuchObject,                // deleted meanwhile
		ldap.LDAPResultInappropriateAuthentication, // it has no password
	):
		return false, nil
	}
	return false, fmt.Errorf("binding to the LDAP server: %w", err)
}

// refusalOfAll is an error if the server is unwilling to bind anybody, which is no answer about a password. Without bind_dn
// there is no password to try that is right: a server that takes binds says of nobody's that it is wrong.
func (d *dir) refusalOfAll(ctx context.Context, refusal error) error {
	if d.s.bindDN != "" {
		if err := d.bindAs(ctx, d.s.bindDN, d.s.password); isUnwilling(err) {
			return fmt.Errorf("the LDAP server refuses every bind, that of bind_dn too: %w", err)
		}
		return nil
	}
	said, ok := errors.AsType[*ldap.Error](refusal)
	if err := d.bindAs(ctx, d.nobody(), "nobody's password"); ok && ldap.IsErrorWithCode(err, said.ResultCode) {
		return fmt.Errorf("the LDAP server refuses every bind: %w", err)
	}
	return nil
}

// nobody is a name that no entry has.
func (d *dir) nobody() string { return "cn=nobody," + d.s.base }

// isUnwilling reports whether the server does not want an entry to sign in, whatever its password.
func isUnwilling(err error) bool {
	return ldap.IsErrorAnyOf(err,
		ldap.LDAPResultConstraintViolation,      // locked by the server after too many failures
		ldap.LDAPResultUnwillingToPerform,       // switched off by the server
		ldap.LDAPResultInsufficientAccessRights, // may not sign in
	)
}

// Interface guard
var _ directory.Directory = (*dir)(nil)
