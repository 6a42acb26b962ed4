package tidegate

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
)

// ClientOpts win over the variables, which are read when first needed.
type ClientOpts struct {
	// AppID names the app. It is part of the identity of its functions: change it and they are new ones.
	AppID string
	// EventKey is needed to send, but not in dev mode. Default: SERVICE_EVENT_KEY.
	EventKey string
	// BaseURL is the service's address. Default: SERVICE_BASE_URL; in dev mode http://127.0.0.1:8288.
	BaseURL string
	// Env is a branch environment, by name. Default: SERVICE_ENV.
	Env string
	// Dev: the service is one in dev mode. Default: SERVICE_DEV, which is 1, true or the address of such a service.
	Dev *bool
	// SigningKey is signkey-<word>-<hex>. Default: SERVICE_SIGNING_KEY. Not needed in dev mode, nor by apps that only send.
	SigningKey string
	// SigningKeyFallback is, while keys are rotated, the other one of the two: calls signed with it are served too.
	// Default: SERVICE_SIGNING_KEY_FALLBACK.
	SigningKeyFallback string
	// MaxBytes of a request with events: larger sends are split. Default: 524,288, as the service's.
	MaxBytes int
	// Checkpoint says whether and how calls of functions continue after a step, once it is stored, instead of ending with it.
	// Functions can have their own. Default: &Checkpoint{}, and Off on platforms that limit the time of requests, such as
	// AWS Lambda and Vercel.
	Checkpoint *Checkpoint
	// AppVersion is the version or build of the app, such as a commit or the ID of a deployment: the service tells versions
	// apart by it.
	AppVersion string
	// Versioning says whether runs end on the version of the app on which they begin (Pinned), or continue with the newest
	// (Latest). Functions can have their own. Default: as set in the service, Latest at first.
	Versioning Versioning
	// HTTPClient asks the service. Default: http.DefaultClient.
	HTTPClient *http.Client
	// Middleware stands around all that the client does, the first one outermost.
	Middleware []Middleware
	// Logger is for Input.Logger. Default: slog.Default().
	Logger *slog.Logger
	// Logs: whether what handlers log with Input.Logger is sent to the service. Default: SERVICE_LOGS, or true unless a
	// middleware encodes values.
	Logs *bool
	// ErrorSource: whether errors are sent with the lines of code around the place where they came about, where it is known.
	// Default: SERVICE_ERROR_SOURCE, or true.
	ErrorSource *bool
}

// Client of an app: made once, used everywhere, by any number of goroutines.
type Client struct{ options ClientOpts }

// NewClient makes a client. It fails only when there is no AppID, a middleware without a Name, or a Checkpoint out of range:
// settings are read when they are needed.
func NewClient(options ClientOpts) (*Client, error) {
	if options.AppID == "" {
		return nil, errors.New("tidegate: a client needs an AppID: the name of its app")
	}
	if err := checkMiddleware(options.Middleware); err != nil {
		return nil, err
	}
	if problem := firstOf(options.Checkpoint.check(), options.Versioning.check()); problem != "" {
		return nil, errors.New("tidegate: " + problem)
	}
	return &Client{options: options}, nil
}

func (c *Client) middleware() chain { return c.options.Middleware }

// AppID is the name of the app.
func (c *Client) AppID() string { return c.options.AppID }

// Send sends one event and returns its ID. The event is an Event, a GenericEvent, or anything whose JSON is one's.
// Wait for it: a process that ends before may not have sent it. In a function, prefer step.SendEvent.
// It fails with a *SendError or a *ConfigError.
func (c *Client) Send(ctx context.Context, event any, options ...SendOption) (string, error) {
	ids, err := c.SendMany(ctx, []any{event}, options...)
	if len(ids) == 0 {
		return "", err
	}
	return ids[0], err
}

// SendMany sends several events, split into as many requests as their size needs, and returns their IDs in order.
// When it fails, the *SendError has the IDs of the accepted events.
func (c *Client) SendMany(ctx context.Context, events []any, options ...SendOption) ([]string, error) {
	if len(events) == 0 {
		return nil, nil
	}
	return c.middleware().send(ctx, SendCall{}, events, func(ctx context.Context, events []any) ([]string, error) {
		return c.sendAsIs(ctx, events, options...)
	})
}

// sendAsIs sends what the middleware has made of the events.
func (c *Client) sendAsIs(ctx context.Context, events []any, options ...SendOption) ([]string, error) {
	if len(events) == 0 {
		return nil, nil
	}
	s, err := c.settings()
	if err != nil {
		return nil, err
	}
	return sendEvents(ctx, events, s, options)
}

// settings as they are now.
func (c *Client) settings() (settings, error) { return readSettings(c.options) }
