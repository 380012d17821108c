// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"strings"
	"time"
)

// Resolver is one configured backend. ctx ends when the call is over for the core: cancelled, refused, or beyond its deadline.
type Resolver interface {
	// Resolve finds every member and pushes it into the call. It asks the source anew each time.
	Resolve(ctx context.Context, call *Call) error
}

// Watcher is a Resolver whose answers are kept up to date by the source's own stream.
type Watcher interface {
	// Watch pushes a whole snapshot and commits it, then another whenever something has changed, until ctx ends or the source
	// fails. An Error with Unimplemented: with these options there is nothing to watch, so poll.
	Watch(ctx context.Context, call *Call) error
}

// Permitter is a Resolver that tells what somebody must be allowed to do.
type Permitter interface {
	// Permissions tells, by AddPermission and SetGrant, all that Resolve needs and no more (MP-24). It asks no network.
	Permissions(ctx context.Context, call *Call, request PermissionsRequest) error
}

// Planner is a Resolver that tells how many requests a resolve makes.
type Planner interface {
	// Plan tells by AddPlanned every request that a first Resolve makes for so many members when nothing fails (MP-25).
	Plan(ctx context.Context, call *Call, members int64) error
}

// PermissionsRequest says for whom permissions are asked, and for what.
type PermissionsRequest struct {
	Principal string // empty: whom this process runs as, if that can be told
	Watch     bool   // for a watch too
}

// Unranked is the index of a task whose platform gives it none: the core ranks by the natural order of names.
const Unranked int64 = -1

// Task is a member that is there.
type Task struct {
	Job     string
	Index   int64  // 0 or more and unique in its job, or Unranked
	Name    string // what the platform calls it; may be empty when it is ranked
	Address string // "host:port", "[v6]:port", or a host alone when there is a Port
	Port    int64  // 0: it is in the address
}

// Missing is a member that should be there and is not.
type Missing struct {
	Job    string
	Index  int64  // or Unranked
	Name   string // may be empty
	Reason string // in words
}

// Identity says that this process is that task.
type Identity struct {
	Job      string
	Index    int64  // or Unranked: the task of this Name
	Name     string // of a task of the same call, there or missing
	Evidence string // in words
}

// Permission is one thing that must be allowed.
type Permission struct {
	PrincipalKind string // "ServiceAccount"; empty when nobody is known
	Principal     string // "ml/trainer"
	Scope         string // "namespace ml"
	Rule          string // "list pods"
}

// Planned is one kind of requests that a resolve makes, Least to Most of them.
type Planned struct {
	API            string // "compute.googleapis.com"
	Request        string // "instances.list"
	Reason         string // what the count stands on; may be empty
	Least, Most    int64
	Quota          string // the published limit that they count to; empty for none
	QuotaPerMinute int64
}

// Level says how much a line of the log matters. An expected fallback is Debug and is not worded as a failure.
type Level int32

const (
	Debug   Level = 0
	Info    Level = 1
	Warning Level = 2
	Failure Level = 3 // MUSTER_LOG_ERROR
)

// Header is one of a request or a response.
type Header struct {
	Name, Value string
}

// HTTPRequest is an HTTP exchange; the core does the rest: retries, redirects, proxies, TLS, gzip (http.h). What is zero has its
// default; Method and URL are needed.
type HTTPRequest struct {
	Method  string
	URL     string // absolute, http or https; already percent-encoded
	Headers []Header
	Body    []byte
	Purpose string // why it is made, in a few words, for `muster explain`

	// OnPiece gets the body of a 2xx response piece by piece instead of the response. What it returns, if not nil, ends the
	// exchange and is its error.
	OnPiece func(piece []byte) error

	MaximumBodySize      uint64        // of the response, in bytes; 0: 64 MiB
	Timeout              time.Duration // beside the call's deadline; 0: that alone
	IdleTimeout          time.Duration // how long a streamed response may be silent; Timeout then counts up to its first piece
	Idempotent           bool          // a POST that is safe to send again
	NoRetry              bool          // one attempt
	FollowRedirects      bool          // to other origins too, without credentials
	SecretBody           bool          // both bodies are secrets
	Insecure             bool          // TLS without verification: only when the user asked for it
	NoProxy              bool
	ProxyURL             string // instead of the environment's
	CAPEM                []byte // empty: the system's authorities
	ClientCertificatePEM []byte
	ClientKeyPEM         []byte
	TLSServerName        string // instead of the URL's host
}

// HTTPResponse is a response that was received, whatever its status.
type HTTPResponse struct {
	Status  int64
	Headers []Header // names as received, in order
	Body    []byte   // empty when OnPiece has got it
}

// Header is the value of the first header of this name, which is compared without case; empty when there is none.
func (r *HTTPResponse) Header(name string) string {
	for _, header := range r.Headers {
		if strings.EqualFold(header.Name, name) {
			return header.Value
		}
	}
	return ""
}

// StreamEnd is an exchange of BeginHTTP that has ended, by a response or by an error.
type StreamEnd struct {
	Number   uint64
	Response *HTTPResponse
	Err      error
}

// Program is a program to run.
type Program struct {
	Arguments         []string      // the first is a path, or a name that is looked up in PATH
	Environment       []string      // "NAME=value", beside and above the launcher's own
	Terminal          bool          // lend it the launcher's
	MaximumOutputSize uint64        // 0: 1 MiB
	Timeout           time.Duration // beside the call's deadline; 0: that alone
}

// ProgramResult is what a program that ended said.
type ProgramResult struct {
	ExitStatus  int64 // 0 to 255; 128 and the signal's number when a signal ended it
	Output      []byte
	ErrorOutput string // the last of its standard error, without what is known as a secret
	Keep        bool   // the output may serve later calls too
}
