package webui

import "time"

// The pages of requests that are confirmed on a second device.

// QRView is the page that shows a code to scan and waits.
type QRView struct {
	Lang   string
	Client string // name of the application that asks
	Host   string // where the browser goes afterwards
	// Image is the path of the code's picture; Address, an absolute URL, is its content, for a link.
	Image, Address string
	// UserCode is the code as a few letters to type at Entry, an absolute URL.
	UserCode, Entry string
	// Number has two digits. The second device asks for them and must not know them.
	Number string
	// State is one of "waiting", "scanned", "denied", "expired", "confirmed".
	State string
	// Poll is the path, with a query, that the script polls.
	Poll string
	// Script is the path of wait.js. Without it, the page only reloads itself.
	Script string
	// Refresh is the path of this page, for browsers without JavaScript, and Again that of a new
	// code.
	Refresh, Again string
	// Redirect and ClientState make up the address to which the script goes with the code.
	Redirect, ClientState string
	// Code is the authorization code, for a link where the page cannot redirect: when confirmed
	// in a frame without JavaScript.
	Code string
	// Top says that the answer replaces the window around the frame.
	Top bool
	// Frames are the origins that may frame the page; if empty, none may.
	Frames []string
	// Small is the variant for a frame of 300 by 400 pixels, without header.
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
	// Browser, System, Address and At describe the request on the other device.
	Browser, System, Address string
	At                       time.Time
	// AskNumber asks for the number that the other device shows.
	AskNumber bool
	// UserCode is the code that the other device shows, to compare; "" for none.
	UserCode string
	// Done says how it ended: "" if not yet, "confirmed", "denied", "wrong" (number).
	Done string
}

// EnterCodeView is the page on which a short code is typed.
type EnterCodeView struct {
	Form
	User     string
	UserCode string // as typed before, or from the URL
	Failed   bool   // the code does not exist, or no longer
	Limited  bool   // too many wrong codes, try later
}
