package tidegate

import (
	"errors"
	"reflect"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// describe makes the WireError of an error.
func describe(err error) *replay.WireError { return describeTo(err, maxCauses) }

// describeTo describes at most the given number of causes.
func describeTo(err error, causes int) *replay.WireError {
	same, cause := level(err)
	code, data := detailsOf(same)
	wire := &replay.WireError{
		Name: nameOf(err), Message: err.Error(), Stack: stackOf(err), Code: onTheWire(code), Data: onTheWire(data),
	}
	var given *CauseError
	switch {
	case cause == nil || causes == 0:
	case errors.As(cause, &given) && given == cause && given.raw != nil:
		wire.Cause = given.raw
	default:
		wire.Cause = onTheWire(describeTo(cause, causes-1))
	}
	return wire
}

// nameOf is what the type of the error, or of one of this library that it wraps, calls it. An error of no type of its
// own is an Error.
func nameOf(err error) string {
	for {
		detailed, ok := err.(*DetailedError)
		if !ok {
			break
		}
		err = detailed.Err
	}
	var step *StepError
	var given *CauseError
	var panicked *replay.Panic
	var retryAfter *RetryAfterError
	switch named := typeName(err); {
	case errors.As(err, &panicked):
		return "PanicError"
	case named != "" && named != "StepError" && named != "CauseError" && named != "Misuse":
		return named
	case isNonRetriable(err):
		return "NonRetriableError"
	case errors.As(err, &retryAfter):
		return "RetryAfterError"
	case errors.As(err, &step):
		return step.Name
	case errors.As(err, &given):
		return given.Name
	default:
		return "Error"
	}
}

// typeName returns an empty text for a type that is not exported, such as wrapper types of the standard library.
func typeName(err error) string {
	t := reflect.TypeOf(err)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if first, _ := utf8.DecodeRuneInString(t.Name()); !unicode.IsUpper(first) {
		return ""
	}
	return t.Name()
}
