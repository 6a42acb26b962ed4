package tidegate

import (
	"encoding/json"
	"errors"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// maxCauses is the number of causes of an error that the service keeps.
const maxCauses = 5

// DetailedError is an error with a code and data for programs. Both are sent with it: a failed step returns
// them in its StepError, and an OnFailure gets them.
type DetailedError struct {
	Err error
	// Code is a string or a number; nil: there is none.
	Code any
	// Data is anything that can be written as JSON; nil: there is none.
	Data any
	at   callers
}

// Detailed adds a code and data to the error.
func Detailed(err error, code, data any) error {
	return &DetailedError{Err: err, Code: code, Data: data, at: callersOf()}
}

func (e *DetailedError) Error() string { return e.Err.Error() }

func (e *DetailedError) Unwrap() error { return e.Err }

// CauseError is the cause of a StepError or RunError, as the service stored it.
type CauseError struct {
	Name    string
	Message string
	Stack   string
	// Code is a string or a float64; nil: there is none.
	Code any
	// Data is JSON; nil: there is none.
	Data json.RawMessage
	// Cause is a *CauseError; nil: there is none.
	Cause error
	// raw is the JSON of a cause that is not an error.
	raw json.RawMessage
}

func (e *CauseError) Error() string { return e.Message }

func (e *CauseError) Unwrap() error { return e.Cause }

// received is the cause of an error from the service; nil if it has none.
func received(raw json.RawMessage, depth int) error {
	if isAbsent(raw) || depth > maxCauses {
		return nil
	}
	var wire replay.WireError
	if json.Unmarshal(raw, &wire) != nil || wire.Message == "" {
		return &CauseError{Name: "Error", Message: firstOf(textOf(raw), string(raw)), raw: raw}
	}
	return &CauseError{
		Name:    firstOf(wire.Name, "Error"),
		Message: wire.Message,
		Stack:   wire.Stack,
		Code:    codeOf(wire.Code),
		Data:    dataOf(wire.Data),
		Cause:   received(wire.Cause, depth+1),
	}
}

// codeOf returns nil if there is no code.
func codeOf(raw json.RawMessage) any {
	var code any
	_ = json.Unmarshal(raw, &code)
	switch code.(type) {
	case string, float64:
		return code
	default:
		return nil
	}
}

func dataOf(raw json.RawMessage) json.RawMessage {
	if isAbsent(raw) {
		return nil
	}
	return raw
}

// level is an error with the errors that it only wraps, which have the same message. The next error below is its cause.
func level(err error) (same []error, cause error) {
	same = []error{err}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		if inner.Error() != err.Error() {
			return same, inner
		}
		same = append(same, inner)
	}
	return same, nil
}

// detailsOf returns the code and data of the first of the errors that has them.
func detailsOf(same []error) (code, data any) {
	for _, err := range same {
		ownCode, ownData := ownDetails(err)
		if code == nil {
			code = ownCode
		}
		if data == nil {
			data = ownData
		}
	}
	return code, data
}

func ownDetails(err error) (code, data any) {
	var raw json.RawMessage
	switch e := err.(type) {
	case *DetailedError:
		return e.Code, e.Data
	case *StepError:
		code, raw = e.Code, e.Data
	case *RunError:
		code, raw = e.Code, e.Data
	case *CauseError:
		code, raw = e.Code, e.Data
	case *SendError:
		code = orNil(e.Code)
	case *ServeError:
		code = orNil(e.Code)
	}
	if raw != nil {
		data = raw
	}
	return code, data
}

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// onTheWire returns nil for a value that is absent or cannot be written.
func onTheWire(value any) json.RawMessage {
	if value == nil {
		return nil
	}
	text, err := replay.Encode(value)
	if err != nil {
		text, _ = replay.Encode("This cannot be written as JSON: " + err.Error())
	}
	return text
}
