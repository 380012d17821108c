// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

const variable = "MUSTER_FRAMES_FD"

// Main speaks with muster until it ends the conversation, and then exits; it does not return.
//
// `create` makes the backend from its options, a JSON object that was checked against the descriptor's schema, with its defaults. It
// does not wait, read files or ask the network (MP-19). `descriptor` is what plugin.h says of MUSTER_DESCRIPTOR, as JSON. A program
// that was not started by muster says what it is for.
func Main(descriptor string, create func(options []byte, host *Host) (Resolver, error)) {
	var about struct{ Name, Version string }
	if err := json.Unmarshal([]byte(descriptor), &about); err != nil {
		fail("the descriptor is no JSON: %v", err)
	}
	software := about.Name + " " + about.Version
	number := os.Getenv(variable)
	if number == "" {
		fail("%s is a backend of muster, which starts it and speaks with it: name it in a muster.yaml, as `command: [%s]`", software, os.Args[0])
	}
	os.Unsetenv(variable)
	descriptorNumber, err := strconv.Atoi(number)
	if err == nil {
		_, err = syscall.GetsockoptInt(descriptorNumber, syscall.SOL_SOCKET, syscall.SO_TYPE)
	}
	if err != nil {
		fail("%s: %s is %q, which is no socket: %v", software, variable, number, err)
	}
	syscall.CloseOnExec(descriptorNumber)
	serve(connect(os.NewFile(uintptr(descriptorNumber), "frames"), software, descriptor), create)
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

func serve(c *connection, create func([]byte, *Host) (Resolver, error)) {
	var resolver Resolver
	for {
		request, err := c.next()
		switch {
		case err != nil:
			if closer, ok := resolver.(io.Closer); ok {
				_ = closer.Close()
			}
			os.Exit(0)
		case request.kind == kindCreate && resolver == nil:
			resolver = c.create(request, create)
		case request.kind == kindRun && resolver != nil:
			c.run(request, resolver)
		default:
			die(fmt.Errorf("frame %d came where it may not", request.kind))
		}
	}
}

func (c *connection) create(request *begun, create func([]byte, *Host) (Resolver, error)) Resolver {
	var resolver Resolver
	panicked, err := guard("create", func() (err error) {
		resolver, err = create([]byte(request.create.options), &Host{connection: c, Path: request.create.path})
		return err
	})
	if err == nil && resolver == nil {
		err = Errorf(Internal, "create made no backend (MP-22)")
	}
	if panicked != "" || err != nil {
		c.answer(request.id, errorOf(err), nil)
		return nil
	}
	message := new(writer)
	for _, extension := range []struct {
		id    string
		there bool
	}{
		{"muster.watch/1", is[Watcher](resolver)},
		{"muster.permissions/1", is[Permitter](resolver)},
		{"muster.plan/1", is[Planner](resolver)},
	} {
		if extension.there {
			message.text(7, extension.id)
		}
	}
	c.answer(request.id, nil, message)
	return resolver
}

func is[T any](resolver Resolver) bool {
	_, ok := resolver.(T)
	return ok
}

func (c *connection) run(request *begun, resolver Resolver) {
	call := &Call{
		connection: c,
		context:    request.context,
		deadline:   request.deadline,
		interval:   time.Duration(request.run.interval),
		live:       request.run.live,
		state:      request.state,
		handlers:   map[uint64]func([]byte) error{},
		failed:     map[uint64]error{},
	}
	defer request.state.end()
	name, function := functionOf(request, resolver, call)
	if function == nil {
		c.answer(request.id, Errorf(Unimplemented, "this backend has no %s", name), nil)
		return
	}
	panicked, err := guard(name, function)
	if panicked != "" {
		_ = c.push(kindMisbehaved, new(writer).text(1, "MP-13").text(2, panicked))
	} else if over := call.Err(); over != nil && !(request.state.refused.Load() == 0 && saysOver(err)) {
		err = over // whatever the backend made of it
	}
	call.ended = true
	if err != nil {
		c.answer(request.id, errorOf(err), nil)
	} else {
		c.answer(request.id, nil, new(writer))
	}
}

// saysOver says that an error of the call's end is one that a service told, in its words.
func saysOver(err error) bool {
	var known *Error
	return errors.As(err, &known) && (known.Code == Cancelled || known.Code == DeadlineExceeded)
}

// functionOf is what a Run asks for, or nil.
func functionOf(request *begun, resolver Resolver, call *Call) (name string, function func() error) {
	ctx := request.context
	switch request.run.function {
	case functionResolve:
		return "resolve", func() error { return resolver.Resolve(ctx, call) }
	case functionWatch:
		if watcher, ok := resolver.(Watcher); ok {
			return "watch", func() error { return watcher.Watch(ctx, call) }
		}
		return "watch", nil
	case functionPermissions:
		if permitter, ok := resolver.(Permitter); ok {
			asked := PermissionsRequest{Principal: request.run.principal, Watch: request.run.forWatch}
			return "permissions", func() error { return permitter.Permissions(ctx, call, asked) }
		}
		return "permissions", nil
	case functionPlan:
		if planner, ok := resolver.(Planner); ok {
			return "plan", func() error { return planner.Plan(ctx, call, request.run.members) }
		}
		return "plan", nil
	}
	return "such function", nil
}

// guard runs the backend's code. A panic of it is INTERNAL, in these words (MP-13).
func guard(name string, function func() error) (panicked string, err error) {
	defer func() {
		if value := recover(); value != nil {
			panicked = fmt.Sprintf("%s failed: panic: %v", name, value)
			fmt.Fprintf(os.Stderr, "%s\n%s", panicked, debug.Stack())
			err = &Error{Code: Internal, Message: panicked}
		}
	}()
	return "", function()
}

// errorOf is what the core is told of an error: the code and details of the Error in it, and the words of the whole.
func errorOf(err error) *Error {
	out := &Error{Code: Unknown, Message: err.Error()}
	var known *Error
	switch {
	case errors.As(err, &known):
		out.Code, out.Details = known.Code, known.Details
	case errors.Is(err, context.Canceled):
		out.Code = Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		out.Code = DeadlineExceeded
	}
	if out.Code == OK {
		out.Code = Internal
	}
	return out
}
