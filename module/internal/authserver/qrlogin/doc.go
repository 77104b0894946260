// Package qrlogin is the browser's side of Variant B's QR login: the page with the code, the polls that wait for the
// phone, and the delivery of the code to the client's site. The phone's side belongs to package confirm.
package qrlogin
