package admin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gatehouse/gatehouse/module/directory"
	"github.com/gatehouse/gatehouse/module/internal/adminapi"
	"github.com/gatehouse/gatehouse/module/internal/userstore"
)

const (
	// importWorkers is the number of users that are written at a time: stores commit several writes together.
	importWorkers = 32
	// importTime is how long further users of a request are begun. The caller waits longer than this and one user take.
	importTime = 5 * time.Second
)

// importing is the work on one request.
type importing struct {
	*call
	kept    *userstore.Users
	mode    userstore.ImportMode
	users   []adminapi.ImportedUser
	results []adminapi.ImportResult

	mu     sync.Mutex
	begun  int
	failed error // technical
}

// importUsers adds users of another program. Each is dealt with by itself; a technical error ends the request, which may
// be repeated.
func importUsers(c *call, in adminapi.Import) (any, error) {
	kept, err := c.kept()
	switch {
	case err != nil:
		return nil, err
	case len(in.Users) == 0 || len(in.Users) > adminapi.MaxImport:
		return nil, badField("users", fmt.Sprintf("expected 1 to %d users", adminapi.MaxImport))
	}
	i := &importing{
		call: c, kept: kept, mode: userstore.ImportMode{DryRun: in.DryRun, Update: in.Update},
		users: in.Users, results: make([]adminapi.ImportResult, len(in.Users)),
	}
	workers := importWorkers
	for _, u := range in.Users {
		if u.Password != "" {
			workers = 1 // hashing takes longer than writing
		}
	}
	// What has begun is finished when the caller hangs up: no name is left without its user.
	err = c.finish(func(ctx context.Context) error {
		var wg sync.WaitGroup
		end := time.Now().Add(importTime)
		for range workers {
			wg.Go(func() { i.work(ctx, end) })
		}
		wg.Wait()
		return i.failed
	})
	return adminapi.ImportResults{Results: i.results[:i.begun]}, err
}

// work imports users until there are no more, or the time is over. The users that have begun are always the first ones.
func (i *importing) work(ctx context.Context, end time.Time) {
	for {
		i.mu.Lock()
		n := i.begun
		over := n == len(i.users) || i.failed != nil || n > 0 && time.Now().After(end) || i.r.Context().Err() != nil
		if !over {
			i.begun++
		}
		i.mu.Unlock()
		if over {
			return
		}
		result, err := i.importUser(ctx, i.users[n])
		i.results[n] = result
		if err != nil {
			i.mu.Lock()
			i.failed = err
			i.mu.Unlock()
		}
	}
}

func (i *importing) importUser(ctx context.Context, in adminapi.ImportedUser) (adminapi.ImportResult, error) {
	id, done, err := i.kept.Import(ctx, userstore.Imported{
		User: directory.User{
			ID: in.ID, Username: in.Username, Name: in.Name, Nickname: in.Nickname, Picture: in.Picture,
			Email: in.Email, Phone: in.Phone, Locked: in.Locked, Claims: in.Claims,
		},
		Password: in.Password, Hash: in.PasswordHash,
	}, i.mode)
	if err != nil {
		return refusedImport(err)
	}
	outcome := adminapi.ImportUpdated
	switch done {
	case userstore.Present:
		return adminapi.ImportResult{Outcome: adminapi.ImportPresent}, nil
	case userstore.Created:
		outcome = adminapi.ImportCreated
	}
	if i.mode.DryRun {
		return adminapi.ImportResult{Outcome: outcome}, nil
	}
	i.recordUser(id, string(outcome))
	if done == userstore.UpdatedAndLocked {
		i.recordUser(id, "locked")
		if err := i.Server.EndSubject(ctx, id); err != nil { // a second import would find nothing to do
			return adminapi.ImportResult{
				Outcome: adminapi.ImportRefused, Field: "locked",
				Reason: "the user is locked, but sessions and grants have not ended: run `caddy gatehouse user lock`",
			}, nil
		}
	}
	return adminapi.ImportResult{Outcome: outcome}, nil
}

// refusedImport turns an error about a user into the result; others are technical.
func refusedImport(err error) (adminapi.ImportResult, error) {
	refused := adminapi.ImportResult{Outcome: adminapi.ImportRefused, Reason: err.Error()}
	var field *directory.FieldError
	switch {
	case errors.Is(err, userstore.ErrInvalid) && errors.As(err, &field):
		refused.Field, refused.Reason = field.Field, field.Error()
	case errors.Is(err, userstore.ErrInvalid):
	case errors.Is(err, userstore.ErrTaken):
		refused.Field = "username"
	case errors.Is(err, userstore.ErrNotFound):
		refused.Field, refused.Reason = "username", "the user was deleted meanwhile"
	default:
		return adminapi.ImportResult{}, err
	}
	return refused, nil
}
