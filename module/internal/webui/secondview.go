package webui

import "time"

// The pages of requests that are confirmed on a second device.

// QRView is the page that shows a code to scan, and waits.
type QRView struct {
	Lang   string
	Client string // name of the application that asks
	Host   string // where the browser goes afterwards
	// Image is the path of the picture of the code; Address, an absolute URL, is what it says, for a link.
	Image, Address string
	// UserCode is the same as a few letters to type at Entry, an absolute URL.
	UserCode, Entry string
	// Number has two digits; the second device asks for them and must not know them.
	Number string
	// State is one of "waiting", "scanned", "denied", "expired", "confirmed".
	State string
	// Poll is the path, with a query, that the script asks for news.
	Poll string
	// Script is the path of wait.js; without it the page refreshes itself only.
	Script string
	// Refresh is the path of this page, for browsers without script, and Again that of a new code.
	Refresh, Again string
	// Redirect and ClientState make the address that the script goes to with the code.
	Redirect, ClientState string
	// Code is the authorization code, for a link where the page itself cannot be sent on:
	// confirmed, in a frame, without script.
	Code string
	// Top says that the answer goes to the window around the frame.
	Top bool
	// Frames are the origins that may frame the page, none for nobody.
	Frames []string
	// Small is the form for a frame of 300 by 400 pixels: without header.
	Small bool
}

// ConfirmView is the page on the second device that asks whether to confirm.
type ConfirmView struct {
	Form
	Client     string
	Host       string // where the other device goes afterwards, "" for nowhere
	User       string
	Name       string // what that person is called, "" for nothing but User
	Scopes     []ScopeView
	Unverified bool // the application registered itself
	// Browser, System, Address and At are of the request on the other device.
	Browser, System, Address string
	At                       time.Time
	// AskNumber asks for the number that the other device shows.
	AskNumber bool
	// UserCode is the code that the other device shows, to compare; "" for none.
	UserCode string
	// Done says how it ended: "" not yet, "confirmed", "denied", "wrong" (number).
	Done string
}

// EnterCodeView is the page on which a short code is typed.
type EnterCodeView struct {
	Form
	User     string
	UserCode string // what was typed before or came with the address
	Failed   bool   // there is no such code, or none any more
	Limited  bool   // too many wrong ones, try later
}
