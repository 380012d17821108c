// SPDX-License-Identifier: Apache-2.0

package backend

import "fmt"

// Code says why something failed: the numbers and meanings of google.rpc.Code. plugin.h says after which a chain goes on.
type Code int32

const (
	OK                 Code = 0
	Cancelled          Code = 1
	Unknown            Code = 2
	InvalidArgument    Code = 3 // the configuration is wrong; a chain stops
	DeadlineExceeded   Code = 4 // a chain goes on
	NotFound           Code = 5 // not here: a chain goes on
	AlreadyExists      Code = 6 // two members claim one place
	PermissionDenied   Code = 7 // known, and not allowed; a chain stops
	ResourceExhausted  Code = 8 // quota or a stated limit; a chain goes on
	FailedPrecondition Code = 9 // cannot be asked from here: a chain goes on
	Aborted            Code = 10
	OutOfRange         Code = 11
	Unimplemented      Code = 12
	Internal           Code = 13
	Unavailable        Code = 14 // not now: a chain goes on
	DataLoss           Code = 15 // the source's answer cannot be understood
	Unauthenticated    Code = 16 // credentials absent or refused; a chain stops
)

// The words for a call that is over.
const (
	wordsCancelled = "cancelled"
	wordsDeadline  = "the deadline has come"
)

// Error is a failure that a user is told. Wrapped by another error it keeps its code and details, and the message is the whole one's.
type Error struct {
	Code    Code
	Message string // what was asked, what happened and what to do; without a secret

	// Details are facts by their keys. Standard ones: "http_status", "retry_after_ms", "endpoint", "hint" (what the user should do)
	// and "option" (a JSON pointer into the options, as "/token": the place in the config is shown then).
	Details map[string]string
}

// Errorf makes an Error; the rest is as fmt.Sprintf's.
func Errorf(code Code, format string, values ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, values...)}
}

// With adds a detail, to build an Error in one expression.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]string{}
	}
	e.Details[key] = fmt.Sprint(value)
	return e
}

// Error is the message.
func (e *Error) Error() string { return e.Message }
