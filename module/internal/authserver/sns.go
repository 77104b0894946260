package authserver

import (
	"github.com/gatehouse/gatehouse/module/internal/authserver/grant"
	"github.com/gatehouse/gatehouse/module/internal/authserver/variantb"
)

// newVariantB gives the endpoints that sites call in the dialect of the QR sign-in what
// they share with OAuth's: clients and their failures, keys, users, the signature.
func newVariantB(s *Server) (*variantb.Endpoints, error) {
	grants, err := grant.NewVariantB(grant.Config{
		Store: s.Store, Directory: s.Directory, Revocations: s.Revocations, Keys: s.Keys, Now: s.Now,
		Passwords: s.passwords, Audit: s.Audit, Access: s.Lifetimes.VariantB, Refresh: s.Lifetimes.Refresh,
		Evicted: s.Metrics.GrantEvicted, PerPair: s.GrantsPerUser,
	})
	if err != nil {
		return nil, err
	}
	return &variantb.Endpoints{
		Issuer: s.issuer, ClientAuth: s.clientAuth, Grants: grants, Names: &variantb.Names{Store: s.Store, Keys: s.Keys},
		Directory: s.Directory, Issue: s.Tokens.Issue, Verify: s.Verifier.Verify, Count: s.Metrics.TokenRequest,
		Audit: s.Audit, Log: s.Log, Audience: s.audiences.Of, Access: s.Lifetimes.VariantB,
		ClientIP: s.ClientIP, Now: s.Now,
	}, nil
}
