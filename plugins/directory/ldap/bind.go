package ldap

import (
	"context"
	"errors"

	"github.com/go-ldap/ldap/v3"
	"go.uber.org/zap"
)

// errMustChange says that a password is right, but only good for setting another one.
var errMustChange = errors.New("the user must change the password")

// bindAs binds as an entry. The control asks a server with a password policy to say what it has against the password; others
// ignore it.
func (d *dir) bindAs(ctx context.Context, dn, password string) error {
	request := ldap.NewSimpleBindRequest(dn, password, []ldap.Control{ldap.NewControlBeheraPasswordPolicy()})
	var result *ldap.SimpleBindResult
	err := d.binds.withConn(ctx, func(c *ldap.Conn) (err error) {
		result, err = c.SimpleBind(request)
		return err
	})
	if err == nil && mustChange(result.Controls) {
		return errMustChange
	}
	return err
}

// mustChange reports whether a server that took a password says that its user must change it first. The older control
// (draft-vchu-ldap-pwd-policy) also comes with an expired password that may be used a few times more, so it counts only by itself.
func mustChange(controls []ldap.Control) bool {
	const changeAfterReset = 2
	if policy, ok := ldap.FindControl(controls, ldap.ControlTypeBeheraPasswordPolicy).(*ldap.ControlBeheraPasswordPolicy); ok {
		return policy.Error == changeAfterReset
	}
	return ldap.FindControl(controls, ldap.ControlTypeVChuPasswordMustChange) != nil
}

// logMustChange tells why a user with the right password is refused.
func (d *dir) logMustChange(entry *ldap.Entry) {
	if entry == nil {
		return
	}
	if id, err := d.s.userID(entry); err == nil {
		d.log.Warn("a user cannot sign in before changing the password, says the LDAP server", zap.String("subject", id))
	}
}
