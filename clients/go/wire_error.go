package tidegate

import (
	"errors"
	"reflect"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// describe writes an error as it travels. Only a panic has a stack: Go's errors have none.
func describe(err error) *replay.WireError {
	wire := &replay.WireError{Name: nameOf(err), Message: err.Error()}
	var panicked *replay.Panic
	if errors.As(err, &panicked) {
		wire.Stack = panicked.Stack
	}
	return wire
}

// nameOf is what the type of the error, or of one of this library that it wraps, calls it. An error of no type of its
// own is an Error.
func nameOf(err error) string {
	var step *StepError
	var panicked *replay.Panic
	var retryAfter *RetryAfterError
	switch named := typeName(err); {
	case errors.As(err, &panicked):
		return "PanicError"
	case named != "" && named != "StepError" && named != "Misuse":
		return named
	case isNonRetriable(err):
		return "NonRetriableError"
	case errors.As(err, &retryAfter):
		return "RetryAfterError"
	case errors.As(err, &step):
		return step.Name
	default:
		return "Error"
	}
}

// typeName is empty of a type that is not exported, as those of the standard library are that only wrap.
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
