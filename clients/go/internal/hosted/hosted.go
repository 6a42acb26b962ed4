// Package hosted is an app that a connection hosts. The packages tidegate and connect share it.
package hosted

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// App is a client and its functions.
type App struct {
	ID string
	// SDK is the name and version of this library.
	SDK string
	// Version of the app; empty: nobody told.
	Version string
	// Functions are as they register.
	Functions  json.RawMessage
	Logger     func() *slog.Logger
	HTTPClient func() *http.Client
	// Ask is a request to the service that proves who asks, POST with JSON. It fails with a *tidegate.ServeError when the
	// service could not be reached, or with a *tidegate.ConfigError.
	Ask func(ctx context.Context, path string, body []byte, within time.Duration) (Answer, error)
	// Run never fails: a call that reaches no function has a response too.
	Run func(ctx context.Context, call Call) Reply
}

// Response of the service.
type Answer struct {
	Status int
	Body   []byte
	// BaseURL is the service's. Hint follows the message of a refusal; it is empty when the mode of the app cannot be the reason.
	BaseURL, Hint string
}

// Call is one of a function, or of one step of it.
type Call struct {
	Body               []byte
	FunctionID, StepID string
	SendCheckpoint     func(ctx context.Context, runID string, body []byte) (status int, err error)
}

// Reply is the result of the call.
type Reply struct {
	Status int
	Body   []byte
	// NoRetry: no retry would help. RetryAfter is the text of the header; empty: there is no header.
	NoRetry    bool
	RetryAfter string
}
