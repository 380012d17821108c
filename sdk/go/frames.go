// SPDX-License-Identifier: Apache-2.0

package backend

import "fmt"

const (
	major       = 1
	minor       = 0
	sizeMaximum = 67108864
)

// The kinds of frames: numbers of the fields of Frame in frames.proto.
const (
	kindHello         = 2
	kindAnswer        = 3
	kindCreate        = 4
	kindRun           = 5
	kindCancel        = 6
	kindRefused       = 7
	kindPiece         = 8
	kindLog           = 16
	kindCheckAddress  = 17
	kindAddJob        = 18
	kindAddTask       = 19
	kindSetAttribute  = 20
	kindAddMissing    = 21
	kindSetExpected   = 22
	kindSetIdentity   = 23
	kindAddWarning    = 24
	kindMarkSecret    = 25
	kindSetProgress   = 26
	kindCommit        = 27
	kindAddPermission = 28
	kindSetGrant      = 29
	kindAddPlanned    = 30
	kindMisbehaved    = 31
	kindGetTime       = 40
	kindSleep         = 41
	kindGetVariable   = 42
	kindReadFile      = 43
	kindSendHTTP      = 44
	kindBeginHTTP     = 45
	kindNextHTTP      = 46
	kindEndHTTP       = 47
	kindHasTerminal   = 48
	kindRunProgram    = 49
	kindGetHostname   = 50
)

// The functions of a Run.
const (
	functionResolve     = 1
	functionWatch       = 2
	functionPermissions = 3
	functionPlan        = 4
)

// frame is one of the core: its kind, and the fields that this kind has.
type frame struct {
	id   uint64
	kind uint64 // one of those above, or 0 for one of a newer core

	hello struct {
		major, minor uint64
		software     string
	}
	answer answer
	create struct{ options, path string }
	run    run
	code   int64 // of Refused
	piece  struct {
		stream uint64 // 0: of the SendHttp that waits
		data   []byte
	}
}

type answer struct {
	code    int64
	message string
	details map[string]string
	content []byte
	more    bool
	number  int64
	http    HTTPResponse
	program ProgramResult
}

// err is the failure that an answer is, or nil.
func (a *answer) err() error {
	if a.code == int64(OK) {
		return nil
	}
	message := a.message
	switch {
	case message != "":
	case a.code == int64(Cancelled):
		message = wordsCancelled
	case a.code == int64(DeadlineExceeded):
		message = wordsDeadline
	default:
		message = fmt.Sprintf("muster answered with code %d", a.code)
	}
	return &Error{Code: Code(a.code), Message: message, Details: a.details}
}

type run struct {
	function  int64
	remaining int64 // nanoseconds
	principal string
	forWatch  bool
	members   int64
	live      bool
	interval  int64 // nanoseconds
}

// parse reads a frame of the core, without its size.
func parse(encoded []byte) (*frame, error) {
	out := &frame{}
	var body []byte
	err := eachField(encoded, func(f field) error {
		if f.number == 1 {
			return read(f, field.unsigned, &out.id)
		}
		if f.number < kindHello || f.number > kindPiece {
			return nil
		}
		out.kind = f.number
		return read(f, field.data, &body)
	})
	if err != nil || out.kind == 0 {
		return out, err
	}
	asks := out.kind == kindAnswer || out.kind == kindCreate || out.kind == kindRun || out.kind == kindPiece
	if asks != (out.id != 0) {
		return nil, fmt.Errorf("frame %d has the id %d", out.kind, out.id)
	}
	return out, eachField(body, func(f field) error { return out.take(f) })
}

// take puts a field of the frame's message where it belongs.
func (out *frame) take(f field) error {
	if f.number > 255 {
		return nil // what a newer core says besides
	}
	switch out.kind<<8 | f.number {
	case kindHello<<8 | 1:
		return read(f, field.unsigned, &out.hello.major)
	case kindHello<<8 | 2:
		return read(f, field.unsigned, &out.hello.minor)
	case kindHello<<8 | 3:
		return read(f, field.text, &out.hello.software)
	case kindAnswer<<8 | 1:
		return read(f, field.integer, &out.answer.code)
	case kindAnswer<<8 | 2:
		return read(f, field.text, &out.answer.message)
	case kindAnswer<<8 | 3:
		return out.takeDetail(f)
	case kindAnswer<<8 | 4:
		return read(f, field.data, &out.answer.content)
	case kindAnswer<<8 | 5:
		return read(f, field.boolean, &out.answer.more)
	case kindAnswer<<8 | 6:
		return read(f, field.integer, &out.answer.number)
	case kindAnswer<<8 | 8:
		return out.takeResponse(f)
	case kindAnswer<<8 | 9:
		return out.takeProgram(f)
	case kindCreate<<8 | 1:
		return read(f, field.text, &out.create.options)
	case kindCreate<<8 | 2:
		return read(f, field.text, &out.create.path)
	case kindRun<<8 | 1:
		return read(f, field.integer, &out.run.function)
	case kindRun<<8 | 3:
		return read(f, field.integer, &out.run.remaining)
	case kindRun<<8 | 4:
		return read(f, field.text, &out.run.principal)
	case kindRun<<8 | 5:
		return read(f, field.boolean, &out.run.forWatch)
	case kindRun<<8 | 6:
		return read(f, field.integer, &out.run.members)
	case kindRun<<8 | 7:
		return read(f, field.boolean, &out.run.live)
	case kindRun<<8 | 8:
		return read(f, field.integer, &out.run.interval)
	case kindRefused<<8 | 1:
		return read(f, field.integer, &out.code)
	case kindPiece<<8 | 2:
		return read(f, field.data, &out.piece.data)
	case kindPiece<<8 | 3:
		return read(f, field.unsigned, &out.piece.stream)
	}
	return nil
}

func (out *frame) takeDetail(f field) error {
	name, value, err := readPair(f)
	if out.answer.details == nil {
		out.answer.details = map[string]string{}
	}
	out.answer.details[name] = value
	return err
}

func (out *frame) takeResponse(f field) error {
	return eachMessageField(f, func(f field) error {
		switch f.number {
		case 1:
			return read(f, field.integer, &out.answer.http.Status)
		case 2:
			name, value, err := readPair(f)
			out.answer.http.Headers = append(out.answer.http.Headers, Header{name, value})
			return err
		}
		return nil
	})
}

func (out *frame) takeProgram(f field) error {
	return eachMessageField(f, func(f field) error {
		switch f.number {
		case 1:
			return read(f, field.integer, &out.answer.program.ExitStatus)
		case 2:
			return read(f, field.text, &out.answer.program.ErrorOutput)
		case 3:
			return read(f, field.boolean, &out.answer.program.Keep)
		}
		return nil
	})
}

// readPair reads a Detail or a Header; the latter's value may be any bytes.
func readPair(f field) (name, value string, err error) {
	err = eachMessageField(f, func(f field) error {
		switch f.number {
		case 1:
			return read(f, field.text, &name)
		case 2:
			var data []byte
			err := read(f, field.data, &data)
			value = string(data)
			return err
		}
		return nil
	})
	return name, value, err
}

func eachMessageField(f field, take func(field) error) error {
	data, err := f.data()
	if err != nil {
		return err
	}
	return eachField(data, take)
}
