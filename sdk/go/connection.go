// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	gatheredMaximum = 1 << 16
	grace           = 250 * time.Millisecond // of the 300 ms in which a program has to exit
)

// errEnded: the core has shut the conversation down.
var errEnded = &Error{Code: Cancelled, Message: "muster has ended the conversation"}

// state is what becomes of a call while it runs. The reading goroutine writes it.
type state struct {
	refused atomic.Int64 // the code of Refused
	end     func()       // ends the call's context
}

// begun is a frame that is for the backend's goroutine; of a Run with what belongs to the call.
type begun struct {
	*frame
	state    *state
	context  context.Context
	deadline time.Time
}

// begin counts the time of a Run from now.
func begin(run *frame) *begun {
	deadline := time.Now().Add(time.Duration(run.run.remaining))
	ctx, end := context.WithDeadline(context.Background(), deadline)
	return &begun{frame: run, state: &state{end: end}, context: ctx, deadline: deadline}
}

// connection is a conversation with the core. Writing is for any goroutine; request and next are for the one that runs the backend.
type connection struct {
	stream   io.ReadWriter
	mutex    sync.Mutex // over what is gathered and over writing
	gathered []byte

	incoming  chan *begun // closed at the end
	failure   error       // why it was closed, if not by the core's end
	lastID    uint64
	coreMinor uint64
}

// connect says Hello, and begins to read.
func connect(stream io.ReadWriter, software, descriptor string) *connection {
	c := &connection{stream: stream, incoming: make(chan *begun, 64)}
	hello := new(writer).unsigned(1, major).unsigned(2, minor).text(3, software).text(4, descriptor)
	_ = c.write(0, kindHello, hello) // whoever has gone already is read as the end
	go c.read()
	return c
}

// push gathers a frame that has no answer.
func (c *connection) push(kind int, message *writer) error {
	return c.put(0, kind, message, gatheredMaximum)
}

// write writes a frame, and before it all that was gathered.
func (c *connection) write(id uint64, kind int, message *writer) error {
	return c.put(id, kind, message, 0)
}

func (c *connection) put(id uint64, kind int, message *writer, gather int) error {
	if err := message.err(); err != nil {
		return err
	}
	body := new(writer).unsigned(1, id).message(kind, message).bytes
	if len(body) > sizeMaximum {
		return Errorf(Internal, "a frame of %d bytes: at most %d are taken", len(body), sizeMaximum)
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.gathered = binary.LittleEndian.AppendUint32(c.gathered, uint32(len(body)))
	c.gathered = append(c.gathered, body...)
	if len(c.gathered) < gather {
		return nil
	}
	_, err := c.stream.Write(c.gathered)
	c.gathered = c.gathered[:0]
	if err != nil {
		return errEnded
	}
	return nil
}

// log writes lines of the log.
func (c *connection) log(level Level, text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		line = strings.ToValidUTF8(line, "\uFFFD")
		_ = c.write(0, kindLog, new(writer).integer(1, int64(level)).text(2, line))
	}
}

// answer answers a request of the core, by `message` where there is no error.
func (c *connection) answer(id uint64, err *Error, message *writer) {
	if err != nil {
		text := func(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
		message = new(writer).integer(1, int64(err.Code)).text(2, text(err.Message))
		for key, value := range err.Details {
			message.message(3, new(writer).text(1, text(key)).text(2, text(value)))
		}
	}
	_ = c.write(id, kindAnswer, message)
}

// request asks the core and waits for its answer. `take` gets the pieces of an exchange, those of a stream with its number; what it returns
// tells the core.
func (c *connection) request(kind int, message *writer, take func(stream uint64, piece []byte) error) (*answer, error) {
	c.lastID++
	id := c.lastID
	if err := c.write(id, kind, message); err != nil {
		return nil, err
	}
	var content []byte
	for {
		frame, err := c.next()
		switch {
		case err != nil:
			return nil, err
		case frame.kind == kindAnswer && frame.id == id:
			content = append(content, frame.answer.content...)
			if !frame.answer.more {
				frame.answer.content = content
				return &frame.answer, nil
			}
		case frame.kind == kindPiece && take != nil:
			if err := take(frame.piece.stream, frame.piece.data); err != nil {
				c.answer(frame.id, errorOf(err), nil)
			} else {
				c.answer(frame.id, nil, new(writer))
			}
		default:
			die(fmt.Errorf("frame %d came while request %d waits for its answer", frame.kind, id))
		}
	}
}

// next is the next frame that is for the backend's goroutine.
func (c *connection) next() (*begun, error) {
	for frame := range c.incoming {
		if frame.kind != 0 {
			return frame, nil
		}
		c.answer(frame.id, Errorf(Unimplemented, "this backend speaks version %d.%d of the frames", major, minor), nil)
	}
	if c.failure != nil {
		die(c.failure)
	}
	return nil, errEnded
}

// die ends a program whose core wrote what it may not.
func die(err error) {
	fmt.Fprintln(os.Stderr, "the core wrote what it may not:", err)
	os.Exit(1)
}

func (c *connection) read() {
	last := &state{end: func() {}}
	err := c.readFrames(&last)
	status := 0
	if !errors.Is(err, io.EOF) {
		c.failure = err
		status = 1
	}
	close(c.incoming)
	last.end()
	// A backend that is busy does not see the end, and the core has no patience.
	time.Sleep(grace)
	os.Exit(status)
}

// readFrames reads until the end, which is io.EOF. `last` is the state of the last call.
func (c *connection) readFrames(last **state) error {
	reader := bufio.NewReaderSize(c.stream, gatheredMaximum)
	for first := true; ; first = false {
		var header [4]byte
		if _, err := io.ReadFull(reader, header[:]); err != nil {
			return io.EOF
		}
		size := binary.LittleEndian.Uint32(header[:])
		if size < 1 || size > sizeMaximum {
			return fmt.Errorf("a frame of %d bytes", size)
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(reader, body); err != nil {
			return io.EOF
		}
		frame, err := parse(body)
		if err != nil {
			return err
		}
		if first != (frame.kind == kindHello) {
			return fmt.Errorf("frame %d came where Hello should, or a second Hello", frame.kind)
		}
		switch frame.kind {
		case kindHello:
			if frame.hello.major != major {
				return fmt.Errorf("this backend speaks version %d.%d of the frames, and %s version %d.%d",
					major, minor, frame.hello.software, frame.hello.major, frame.hello.minor)
			}
			c.coreMinor = frame.hello.minor
		case kindCancel:
			(*last).end()
		case kindRefused:
			(*last).refused.Store(frame.code)
			(*last).end()
		case 0:
			if c.coreMinor <= minor {
				return errors.New("a frame of an unknown kind")
			}
			if frame.id != 0 {
				c.incoming <- &begun{frame: frame}
			}
		case kindRun:
			call := begin(frame)
			*last = call.state
			c.incoming <- call
		default:
			c.incoming <- &begun{frame: frame}
		}
	}
}
