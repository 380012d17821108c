// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestNumbersAndTextsAreEncodedAsProtobufDoes(t *testing.T) {
	for _, test := range []struct {
		message *writer
		want    string
	}{
		{new(writer).unsigned(1, 150), "\x08\x96\x01"},
		{new(writer).integer(1, -1), "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
		{new(writer).integer(16, 0), ""},
		{new(writer).signed(2, -1), "\x10\x01"},
		{new(writer).signed(2, 1), "\x10\x02"},
		{new(writer).signed(2, math.MaxInt32), "\x10\xfe\xff\xff\xff\x0f"},
		{new(writer).text(2, "testing"), "\x12\x07testing"},
		{new(writer).text(2, ""), ""},
		{new(writer).element(2, ""), "\x12\x00"},
		{new(writer).message(40, new(writer).boolean(1, true)), "\xc2\x02\x02\x08\x01"},
	} {
		if string(test.message.bytes) != test.want {
			t.Errorf("%q, not %q", test.message.bytes, test.want)
		}
	}
}

func TestATextThatIsNotUTF8IsToldBeforeItIsWritten(t *testing.T) {
	message := new(writer).message(1, new(writer).text(1, "\xff"))
	var failure *Error
	if !errors.As(message.err(), &failure) || failure.Code != Internal {
		t.Error(message.err())
	}
}

func TestAnAnswerIsRead(t *testing.T) {
	frame, err := parse([]byte("\x08\x07\x1a\x1d\x08\x05\x12\x02no\x1a\x05\x0a\x01k\x12\x00\x22\x01c\x30\x09\x42\x09\x08\xc9\x01\x12\x04\x12\x02\xff\xfe"))
	if err != nil {
		t.Fatal(err)
	}
	a := frame.answer
	if frame.id != 7 || a.code != 5 || a.message != "no" || a.details["k"] != "" || len(a.details) != 1 || string(a.content) != "c" || a.number != 9 {
		t.Errorf("%+v", a)
	}
	if a.http.Status != 201 || a.http.Headers[0].Value != "\xff\xfe" {
		t.Errorf("%+v", a.http)
	}
}

func TestWhatIsNoFrameIsAnError(t *testing.T) {
	for _, encoded := range []string{
		"\x08", "\x08\xff", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "\x22\x05hi", "\x00\x00", "\x0b", "\x0f", "\x19\x00", // no messages
		"\x0a\x01a", "\x20\x01", // of another type
		"\x22\x00", "\x08\x01\x32\x00", // with an id that it has not, or without one
		"\x08\x01\x22\x03\x0a\x01\xff", // a text that is not UTF-8
	} {
		if frame, err := parse([]byte(encoded)); err == nil {
			t.Errorf("%q is %+v", encoded, frame)
		}
	}
}

func TestWhatANewerCoreSaysIsPassedOver(t *testing.T) {
	// Field 513 of a Hello is none of Create's.
	frame, err := parse([]byte("\x12\x06\x08\x01\x88\x20\x07\x1d"))
	if err == nil {
		t.Errorf("a cut off field is %+v", frame)
	}
	frame, err = parse([]byte("\x12\x05\x08\x01\x88\x20\x07"))
	if err != nil || frame.kind != kindHello || frame.hello.major != 1 {
		t.Errorf("%+v %v", frame, err)
	}
	frame, err = parse([]byte("\x08\x05\xc2\x3e\x00"))
	if err != nil || frame.kind != 0 || frame.id != 5 {
		t.Errorf("%+v %v", frame, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\x08\x07\x1a\x0d\x08\x05\x12\x02no\x1a\x05\x0a\x01k\x12\x00"))
	f.Add([]byte("\x08\x01\x2a\x04\x08\x01\x18\x05"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		copied := append([]byte(nil), encoded...)
		_, _ = parse(encoded)
		if !bytes.Equal(copied, encoded) {
			t.Error("the frame was written into")
		}
	})
}

func TestAnErrorKeepsItsCodeWhenItIsWrapped(t *testing.T) {
	err := fmt.Errorf("page 2: %w", Errorf(NotFound, "not here").With("http_status", 404))
	told := errorOf(err)
	if told.Code != NotFound || told.Message != "page 2: not here" || told.Details["http_status"] != "404" {
		t.Errorf("%+v", told)
	}
	for err, code := range map[error]Code{
		errors.New("plain"):                        Unknown,
		fmt.Errorf("a: %w", context.Canceled):      Cancelled,
		context.DeadlineExceeded:                   DeadlineExceeded,
		&Error{Code: OK, Message: "no failure"}:    Internal,
		&Error{Code: 99, Message: "of the future"}: 99,
	} {
		if told := errorOf(err); told.Code != code || told.Message != err.Error() {
			t.Errorf("%v: %+v", err, told)
		}
	}
}

func TestHeadersAreFoundWithoutCase(t *testing.T) {
	response := HTTPResponse{Headers: []Header{{"ETag", "1"}, {"etag", "2"}}}
	if response.Header("etag") != "1" || response.Header("Age") != "" {
		t.Error(response)
	}
}
