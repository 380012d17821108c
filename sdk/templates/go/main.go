// Backend "roster": the members of one job from a list over HTTP.
//
//	# name address, or name - and why it has none
//	node-1 10.0.0.1:8470
//	node-2 [fd00::2]:8470
//	node-3 - powered off since Monday
//
// The core ranks the members by natural order of their names. A member without an address keeps its rank.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/backend"
)

// What is known without running any of this. The options arrive checked against their schema.
const descriptor = `{
  "name": "roster",
  "version": "1.0.0",
  "abi": {"major": 1, "minor": 0},
  "description": "The members of one job from a list over HTTP: a line 'name address' for each.",
  "license": "Apache-2.0",
  "services": ["muster.http/1", "muster.environment/1", "muster.address/1", "muster.clock/1"],
  "extensions": ["muster.watch/1"],
  "options": {
    "type": "object",
    "additionalProperties": false,
    "required": ["url"],
    "properties": {
      "url": {"type": "string", "pattern": "^https?://", "description": "Where the list is."},
      "job": {"type": "string", "minLength": 1, "default": "worker", "description": "The job of the members."},
      "port": {"type": "integer", "minimum": 1, "maximum": 65535, "description": "The port of members whose address has none."},
      "token": {"type": "string", "minLength": 1, "writeOnly": true, "description": "Sent as 'Authorization: Bearer'."},
      "identity_variable": {"type": "string", "minLength": 1, "description": "The environment variable that has the name of this process's own member; without it, that is the host's name."}
    }
  }
}`

// resolver is one configured backend. Nothing is kept between its calls.
type resolver struct {
	URL              string `json:"url"`
	Job              string `json:"job"`
	Port             int64  `json:"port"`
	Token            string `json:"token"`
	IdentityVariable string `json:"identity_variable"`
}

// create takes the options; nothing is read or asked here (MP-19).
func create(options []byte, host *backend.Host) (backend.Resolver, error) {
	r := &resolver{}
	return r, json.Unmarshal(options, r)
}

func (r *resolver) Resolve(ctx context.Context, call *backend.Call) error {
	response, err := r.ask(call, "")
	if err != nil {
		return err
	}
	return r.push(ctx, call, string(response.Body))
}

// Watch commits the list, and again whenever its ETag has changed, for which it is asked as often as the user wants. Without ETags the
// core had better ask Resolve.
func (r *resolver) Watch(ctx context.Context, call *backend.Call) error {
	etag := ""
	for {
		response, err := r.ask(call, etag)
		if err != nil {
			return err
		}
		if response.Status == 200 {
			if etag = response.Header("ETag"); etag == "" {
				return backend.Errorf(backend.Unimplemented, "the list has no ETag to watch it by")
			}
			if err := r.push(ctx, call, string(response.Body)); err != nil {
				return err
			}
			if err := call.Commit(); err != nil {
				return err
			}
		}
		if err := call.Sleep(call.Interval()); err != nil {
			return err
		}
	}
}

// ask is the list, or (status 304) that it still is the one of this ETag.
func (r *resolver) ask(call *backend.Call, etag string) (*backend.HTTPResponse, error) {
	request := backend.HTTPRequest{
		Method:  "GET",
		URL:     r.URL,
		Purpose: "the list of members",
		Timeout: 30 * time.Second, // a watch has no other deadline
	}
	if r.Token != "" {
		request.Headers = append(request.Headers, backend.Header{Name: "Authorization", Value: "Bearer " + r.Token})
	}
	if etag != "" {
		request.Headers = append(request.Headers, backend.Header{Name: "If-None-Match", Value: etag})
	}
	response, err := call.HTTP(request)
	if err != nil {
		return nil, err
	}
	if response.Status == 200 || response.Status == 304 && etag != "" {
		return response, nil
	}
	return nil, r.failureOf(response.Status)
}

func (r *resolver) failureOf(status int64) error {
	code, hint := backend.FailedPrecondition, ""
	switch {
	case status == 401:
		code, hint = backend.Unauthenticated, "give or renew the option 'token'"
	case status == 403:
		code, hint = backend.PermissionDenied, "the token may not read this list"
	case status == 404 || status == 410:
		code, hint = backend.NotFound, "look at the option 'url'"
	case status == 429:
		code, hint = backend.ResourceExhausted, "ask less often"
	case status == 408 || status >= 500:
		code = backend.Unavailable
	}
	failure := backend.Errorf(code, "%s answered with status %d", r.URL, status).With("http_status", status)
	if hint != "" {
		failure.With("hint", hint)
	}
	return failure
}

func (r *resolver) push(ctx context.Context, call *backend.Call, text string) error {
	source, ownName, err := r.ownName(call)
	if err != nil {
		return err
	}
	call.AddJob(r.Job) // it may have no member
	for _, m := range readList(text) {
		if ctx.Err() != nil {
			return call.Err()
		}
		port, problem := int64(0), m.problem
		if problem == "" && m.address != "" {
			port, problem = r.portOf(call, m.address)
		}
		switch {
		case problem != "":
			return backend.Errorf(backend.DataLoss, "%s:%d: %s; %s", r.URL, m.line, problem, line)
		case m.address != "":
			call.AddTask(backend.Task{Job: r.Job, Index: backend.Unranked, Name: m.name, Address: m.address, Port: port})
		default:
			call.AddMissing(backend.Missing{Job: r.Job, Index: backend.Unranked, Name: m.name, Reason: m.reason})
		}
		if m.name == ownName {
			evidence := fmt.Sprintf("%s is '%s'", source, ownName)
			call.SetIdentity(backend.Identity{Job: r.Job, Index: backend.Unranked, Name: m.name, Evidence: evidence})
		}
	}
	return nil
}

// ownName is what this process is called, and who says so. The core is asked, so that a recorded resolve can be replayed (MP-14).
func (r *resolver) ownName(call *backend.Call) (source, name string, err error) {
	if r.IdentityVariable == "" {
		name, err = call.Hostname()
		return "the host's name", name, err
	}
	name, _, err = call.Variable(r.IdentityVariable)
	return r.IdentityVariable, name, err
}

// portOf is 0 for an address that has its port, else the option's. Which of the two, the core knows; nobody looks for a colon.
func (r *resolver) portOf(call *backend.Call, address string) (port int64, problem string) {
	err := call.CheckAddress(address, 0)
	if err != nil && r.Port != 0 {
		port = r.Port
		err = call.CheckAddress(address, port)
	}
	if err != nil {
		problem = err.Error()
	}
	return port, problem
}

func main() { backend.Main(descriptor, create) }
