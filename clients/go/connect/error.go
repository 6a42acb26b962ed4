package connect

import "slices"

// passing are codes of the service that pass by themselves.
var passing = []string{
	"connect_gateway_closing",
	"internal",
	"memory_short",
	"overloaded",
	"too_many_connections",
	"unavailable",
}

// Error means that the service refuses the connection, or could not be reached.
type Error struct {
	Message string
	// Code is the service's error code, such as credentials_invalid; empty: it could not be reached.
	Code  string
	cause error
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.cause }

// Passes says whether another try may succeed without a change of the app.
func (e *Error) Passes() bool { return e.Code == "" || slices.Contains(passing, e.Code) }
