package authserver

import (
	"context"

	"github.com/gatehouse/gatehouse/module/internal/authserver/account"
	"github.com/gatehouse/gatehouse/module/internal/authserver/authcode"
	"github.com/gatehouse/gatehouse/module/internal/authserver/authorize"
	"github.com/gatehouse/gatehouse/module/internal/authserver/confirm"
	"github.com/gatehouse/gatehouse/module/internal/authserver/consent"
	"github.com/gatehouse/gatehouse/module/internal/authserver/login"
	"github.com/gatehouse/gatehouse/module/internal/authserver/logout"
	"github.com/gatehouse/gatehouse/module/internal/authserver/page"
	"github.com/gatehouse/gatehouse/module/internal/authserver/password"
	"github.com/gatehouse/gatehouse/module/internal/authserver/qrlogin"
	"github.com/gatehouse/gatehouse/module/internal/authserver/session"
	"github.com/gatehouse/gatehouse/module/internal/ending"
	"github.com/gatehouse/gatehouse/module/internal/fairshare"
	"github.com/gatehouse/gatehouse/module/internal/lockout"
)

// browserEndpoints are what people's browsers ask.
type browserEndpoints struct {
	login     *login.Endpoint
	authorize *authorize.Endpoint
	account   *account.Endpoint
	logout    *logout.Endpoint
	confirm   *confirm.Endpoint
	qrlogin   *qrlogin.Endpoint
}

func newPasswords(s *Server, sessions *session.Sessions) *password.Checker {
	return password.New(password.Config{
		Sessions: sessions, CountSignIn: s.Metrics.SignIn, KnownLife: s.Lifetimes.Refresh,
		Account:    lockout.Rule{Limit: s.Protect.LoginFailures, Window: loginWindow, Lock: s.Protect.Lockout},
		PerAddress: s.Protect.PerAddress, Concurrency: s.Protect.HashConcurrency, QueueTimeout: s.Protect.HashQueueTimeout,
	})
}

// EndLockout forgets on this node what was counted for a user, see [password.Checker.EndLockout].
func (s *Server) EndLockout(subject, username string) { s.passwords.EndLockout(subject, username) }

func newUsers(s *Server) (*account.Users, error) {
	ender, err := ending.NewEnder(ending.Config{
		Store: s.Store, Revocations: s.Revocations, Wake: s.Sweep, Now: s.Now,
		Longest: s.Lifetimes.Refresh + s.Lifetimes.Session + s.Lifetimes.Request,
	})
	if err != nil {
		return nil, err
	}
	return account.NewUsers(s.Store, ender, s.families, s.Audit), nil
}

func newBrowserEndpoints(s *Server, sessions *session.Sessions) browserEndpoints {
	texts := make(page.ScopeTexts)
	for _, scope := range s.Scopes {
		texts[scope.Name] = scope.Text
	}
	loginPage := &login.Page{Sessions: sessions, RequestLife: s.Lifetimes.Request}
	codes := authcode.Codes{Store: s.Store, Attempts: s.Attempts, PerUser: s.Protect.CodesPerUser}
	tickets := confirm.Tickets{Tickets: s.CrossDevice, Clients: s.Clients, Attempts: s.Attempts, ClientIP: s.ClientIP}
	var b browserEndpoints
	b.authorize = &authorize.Endpoint{
		Page: loginPage, Consents: consent.Store{Backend: s.Store, Now: s.Now}, Codes: codes, Pushed: s.par,
		Audiences: s.audiences, GrantTypes: s.grantRules, Tokens: s.Tokens, Families: s.families,
		KeepRegistration: s.keepRegistration, ScopeTexts: texts, RequireState: s.RequireState, PKCERequired: s.PKCERequired,
		CodeLife: s.Lifetimes.Code, AccessLife: s.Lifetimes.Access,
	}
	b.login = &login.Endpoint{Page: loginPage, Passwords: s.passwords, Requests: b.authorize, IsPage: s.isPage, ForClients: s.isForClients}
	b.account = &account.Endpoint{
		Page: loginPage, Users: s.Users, ScopeTexts: texts, RefreshIdle: s.Lifetimes.RefreshIdle, TokenLife: s.TokenLife,
	}
	b.logout = &logout.Endpoint{Sessions: sessions, ReadHint: s.Tokens.ReadHint, FormLife: s.Lifetimes.Request}
	b.confirm = &confirm.Endpoint{
		Page: loginPage, Tickets: tickets, Codes: codes, ScopeTexts: texts, CodeLife: s.Lifetimes.Code,
	}
	b.qrlogin = &qrlogin.Endpoint{
		Page: loginPage, Requests: b.authorize, Tickets: tickets, Codes: codes, CodeLife: s.Lifetimes.Code,
		// A third of the places for polls is reserved for addresses that have none.
		Hanging: fairshare.NewPlaces(s.CrossDevice.MaxWaiting - s.CrossDevice.MaxWaiting/3),
	}
	return b
}

// keepRegistration keeps the registration of a client that registered itself, because it is used.
func (s *Server) keepRegistration(ctx context.Context, id string) error {
	if s.Registrar == nil {
		return nil
	}
	return s.Registrar.Used(ctx, id)
}
