// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"errors"
	"time"
)

// The world is asked through the core (MP-14), so that a resolve can be recorded and replayed. Each of these ends by the call's
// deadline and cancel, and its error is an *Error that a backend may return as it is.

// CheckAddress is as Host's.
func (c *Call) CheckAddress(address string, port int64) error {
	_, err := c.ask(kindCheckAddress, new(writer).text(1, address).integer(2, port))
	return err
}

// Now is the time of day. A replay gives the recorded one.
func (c *Call) Now() (time.Time, error) {
	answer, err := c.ask(kindGetTime, new(writer))
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(0, answer.number), nil
}

// Monotonic is the time on CLOCK_MONOTONIC, to measure by. A replay gives the recorded one.
func (c *Call) Monotonic() (time.Duration, error) {
	answer, err := c.ask(kindGetTime, new(writer).boolean(1, true))
	if err != nil {
		return 0, err
	}
	return time.Duration(answer.number), nil
}

// Sleep waits. It fails as soon as the call ends earlier.
func (c *Call) Sleep(duration time.Duration) error {
	_, err := c.ask(kindSleep, new(writer).integer(1, int64(duration)))
	return err
}

// Variable is an environment variable of the launcher. An unset one is not there.
func (c *Call) Variable(name string) (value string, there bool, err error) {
	answer, err := c.ask(kindGetVariable, new(writer).text(1, name))
	var failure *Error
	if errors.As(err, &failure) && failure.Code == NotFound {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return string(answer.content), true, nil
}

// Hostname is the name of the machine that the launcher runs on; empty when it has none. A replay gives the recorded one.
func (c *Call) Hostname() (string, error) {
	answer, err := c.ask(kindGetHostname, new(writer))
	var failure *Error
	if errors.As(err, &failure) && failure.Code == NotFound {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return string(answer.content), nil
}

// File is a whole regular file of at most so many bytes; a leading "~/" is the user's home. Its errors: NotFound, PermissionDenied,
// ResourceExhausted (longer than the maximum), FailedPrecondition (not a regular file).
func (c *Call) File(path string, maximumSize uint64) ([]byte, error) {
	return c.file(path, maximumSize, false)
}

// SecretFile is a File whose whole content is a secret.
func (c *Call) SecretFile(path string, maximumSize uint64) ([]byte, error) {
	return c.file(path, maximumSize, true)
}

func (c *Call) file(path string, maximumSize uint64, secret bool) ([]byte, error) {
	answer, err := c.ask(kindReadFile, new(writer).text(1, path).unsigned(2, maximumSize).boolean(3, secret))
	if err != nil {
		return nil, err
	}
	return answer.content, nil
}

// HTTP does one exchange, with its retries and redirects, and returns the response whatever its status. Its errors: Unavailable (name,
// connection, cut off), DeadlineExceeded, Cancelled, FailedPrecondition (TLS verification), ResourceExhausted (too large),
// InvalidArgument (the URL), and what OnPiece returned.
func (c *Call) HTTP(request HTTPRequest) (*HTTPResponse, error) {
	var failed error
	take := func(_ uint64, piece []byte) error {
		failed = request.OnPiece(piece)
		return failed
	}
	if request.OnPiece == nil {
		take = nil
	}
	answer, err := c.request(kindSendHTTP, new(writer).message(1, request.message()), take)
	switch {
	case err != nil:
		return nil, err
	case failed != nil:
		return nil, failed
	}
	return answer.response()
}

// BeginHTTP begins an exchange and does not wait for it: NextHTTP does. It is called by this number from then on.
func (c *Call) BeginHTTP(request HTTPRequest) (number uint64, err error) {
	answer, err := c.ask(kindBeginHTTP, new(writer).message(1, request.message()))
	if err != nil {
		return 0, err
	}
	if request.OnPiece != nil {
		c.handlers[uint64(answer.number)] = request.OnPiece
	}
	return uint64(answer.number), nil
}

// NextHTTP waits, for this long at most, until one of the exchanges has something to tell: pieces, which its OnPiece gets, or its end. Nil
// where none has ended.
func (c *Call) NextHTTP(timeout time.Duration) (*StreamEnd, error) {
	take := func(number uint64, piece []byte) error {
		handler := c.handlers[number]
		if handler == nil {
			return Errorf(Internal, "the exchange %d is none", number)
		}
		err := handler(piece)
		if err != nil {
			c.failed[number] = err
		}
		return err
	}
	answer, err := c.request(kindNextHTTP, new(writer).integer(1, int64(timeout)), take)
	if err != nil {
		return nil, err
	}
	number := uint64(answer.number)
	if number == 0 {
		if code := Code(answer.code); code != OK && code != DeadlineExceeded {
			return nil, answer.err()
		}
		return nil, c.Err()
	}
	end := &StreamEnd{Number: number}
	end.Response, end.Err = answer.response()
	if failed := c.failed[number]; failed != nil {
		end.Response, end.Err = nil, failed
	}
	delete(c.handlers, number)
	delete(c.failed, number)
	return end, nil
}

// EndHTTP ends an exchange wherever it is; NextHTTP says nothing of it any more.
func (c *Call) EndHTTP(number uint64) {
	delete(c.handlers, number)
	c.push(kindEndHTTP, new(writer).unsigned(1, number))
}

// HasTerminal says whether a program may be given the launcher's terminal.
func (c *Call) HasTerminal() (bool, error) {
	answer, err := c.ask(kindHasTerminal, new(writer))
	return err == nil && answer.number == 1, err
}

// RunProgram runs a program to its end, whatever its exit status. It fails where it could not be run.
func (c *Call) RunProgram(program Program) (*ProgramResult, error) {
	message := new(writer).boolean(1, program.Terminal)
	for _, argument := range program.Arguments {
		message.element(2, argument)
	}
	for _, variable := range program.Environment {
		message.element(3, variable)
	}
	answer, err := c.ask(kindRunProgram, message.unsigned(4, program.MaximumOutputSize).integer(5, int64(program.Timeout)))
	if err != nil {
		return nil, err
	}
	answer.program.Output = answer.content
	return &answer.program, nil
}

func (a *answer) response() (*HTTPResponse, error) {
	if err := a.err(); err != nil {
		return nil, err
	}
	a.http.Body = a.content
	return &a.http, nil
}

func (r *HTTPRequest) message() *writer {
	flags := uint64(0)
	for bit, set := range []bool{r.Idempotent, r.NoRetry, r.FollowRedirects, r.SecretBody, r.Insecure, r.NoProxy} {
		if set {
			flags |= 1 << bit
		}
	}
	message := new(writer).unsigned(1, flags).text(2, r.Method).text(3, r.URL)
	for _, header := range r.Headers {
		message.message(4, new(writer).text(1, header.Name).data(2, []byte(header.Value)))
	}
	return message.data(5, r.Body).unsigned(6, r.MaximumBodySize).text(7, r.Purpose).
		data(8, r.CAPEM).data(9, r.ClientCertificatePEM).data(10, r.ClientKeyPEM).
		text(11, r.TLSServerName).text(12, r.ProxyURL).
		integer(13, int64(r.Timeout)).integer(14, int64(r.IdleTimeout)).boolean(15, r.OnPiece != nil)
}
