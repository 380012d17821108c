// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The part of protobuf's encoding that the frames need, by hand: a backend's module depends on nothing.

// writer is a message in the making. What is zero or empty is not written.
type writer struct {
	bytes []byte
	wrong string // a text that is not valid UTF-8, which no frame may have (MP-4)
}

func (w *writer) unsigned(number int, value uint64) *writer {
	if value != 0 {
		w.bytes = binary.AppendUvarint(w.bytes, uint64(number)<<3)
		w.bytes = binary.AppendUvarint(w.bytes, value)
	}
	return w
}

func (w *writer) integer(number int, value int64) *writer { return w.unsigned(number, uint64(value)) }

// signed writes a sint64.
func (w *writer) signed(number int, value int64) *writer {
	return w.unsigned(number, uint64(value<<1)^uint64(value>>63))
}

func (w *writer) boolean(number int, value bool) *writer {
	if value {
		w.unsigned(number, 1)
	}
	return w
}

func (w *writer) text(number int, value string) *writer {
	if value != "" {
		w.element(number, value)
	}
	return w
}

// element writes a text of a repeated field, which is there even when it is empty.
func (w *writer) element(number int, value string) *writer {
	if !utf8.ValidString(value) {
		w.wrong = value
	}
	w.bytes = binary.AppendUvarint(w.bytes, uint64(number)<<3|2)
	w.bytes = binary.AppendUvarint(w.bytes, uint64(len(value)))
	w.bytes = append(w.bytes, value...)
	return w
}

func (w *writer) data(number int, value []byte) *writer {
	if len(value) > 0 {
		w.bytes = binary.AppendUvarint(w.bytes, uint64(number)<<3|2)
		w.bytes = binary.AppendUvarint(w.bytes, uint64(len(value)))
		w.bytes = append(w.bytes, value...)
	}
	return w
}

// message writes a message, which is there even when it is empty.
func (w *writer) message(number int, value *writer) *writer {
	if value.wrong != "" {
		w.wrong = value.wrong
	}
	w.bytes = binary.AppendUvarint(w.bytes, uint64(number)<<3|2)
	w.bytes = binary.AppendUvarint(w.bytes, uint64(len(value.bytes)))
	w.bytes = append(w.bytes, value.bytes...)
	return w
}

// err tells of a text that may not be written.
func (w *writer) err() error {
	if w.wrong != "" {
		return Errorf(Internal, "%+q is not valid UTF-8 (MP-4)", w.wrong)
	}
	return nil
}

// field is one of a message that was read: a number, or bytes.
type field struct {
	number uint64
	kind   int // 0: value, 2: bytes, else neither
	value  uint64
	bytes  []byte
}

func (f field) integer() (int64, error) {
	value, err := f.unsigned()
	return int64(value), err
}

func (f field) unsigned() (uint64, error) {
	if f.kind != 0 {
		return 0, fmt.Errorf("field %d is no number", f.number)
	}
	return f.value, nil
}

func (f field) boolean() (bool, error) {
	value, err := f.unsigned()
	return value != 0, err
}

func (f field) data() ([]byte, error) {
	if f.kind != 2 {
		return nil, fmt.Errorf("field %d has no bytes", f.number)
	}
	return f.bytes, nil
}

func (f field) text() (string, error) {
	data, err := f.data()
	if err == nil && !utf8.Valid(data) {
		err = fmt.Errorf("field %d is not UTF-8", f.number)
	}
	return string(data), err
}

// read puts a field into *to by the type of that.
func read[T any](f field, get func(field) (T, error), to *T) error {
	value, err := get(f)
	if err == nil {
		*to = value
	}
	return err
}

// eachField calls `take` with the fields of a message, in order.
func eachField(encoded []byte, take func(field) error) error {
	for len(encoded) > 0 {
		key, size := binary.Uvarint(encoded)
		if size <= 0 || key>>3 == 0 {
			return errors.New("a field has no number")
		}
		encoded = encoded[size:]
		f := field{number: key >> 3, kind: int(key & 7)}
		length := uint64(0)
		switch f.kind {
		case 0, 2:
			if f.value, size = binary.Uvarint(encoded); size <= 0 {
				return fmt.Errorf("the number of field %d does not end", f.number)
			}
			encoded = encoded[size:]
			if f.kind == 2 {
				length = f.value
			}
		case 1:
			length = 8
		case 5:
			length = 4
		default:
			return fmt.Errorf("field %d is of the unknown kind %d", f.number, f.kind)
		}
		if length > uint64(len(encoded)) {
			return fmt.Errorf("field %d goes beyond the end", f.number)
		}
		f.bytes, encoded = encoded[:length:length], encoded[length:]
		if err := take(f); err != nil {
			return err
		}
	}
	return nil
}
