package crossdevice

import (
	"errors"

	"github.com/gatehouse/gatehouse/module/store"
)

// Answers that are no faults. Every other error is the store's: nothing is known then, and
// what was asked for may have been done.
var (
	ErrGone        = errors.New("crossdevice: there is no such ticket")
	ErrExpired     = errors.New("crossdevice: the ticket has expired")
	ErrTaken       = errors.New("crossdevice: the ticket is not this session's")
	ErrDecided     = errors.New("crossdevice: the ticket has been decided")
	ErrNumber      = errors.New("crossdevice: the number was wrong, the ticket is denied")
	ErrUnconfirmed = errors.New("crossdevice: the ticket is not confirmed")
	ErrReplaced    = errors.New("crossdevice: a newer wait for the ticket has come")
	ErrFull        = errors.New("crossdevice: as many wait as may wait")
)

// answers are what moves of a ticket come to for the caller.
var answers = map[store.TicketMove]error{
	store.TicketMoved:       nil,
	store.TicketSame:        nil,
	store.TicketOver:        ErrExpired,
	store.TicketTaken:       ErrTaken,
	store.TicketDecided:     ErrDecided,
	store.TicketWrongNumber: ErrNumber,
	store.TicketUnconfirmed: ErrUnconfirmed,
}
