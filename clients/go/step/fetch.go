package step

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// FetchOpts describe a request that the service makes.
type FetchOpts struct {
	URL string
	// Method is GET by default.
	Method  string
	Headers map[string]string
	// Body: a string or []byte is sent unchanged, anything else as JSON.
	Body any
}

// Response is the response to the request.
type Response struct {
	Status int
	// Headers have names such as Content-Type.
	Headers map[string]string
	// Body is nil for a status without a body.
	Body []byte
	// URL after redirects, without its query.
	URL string
}

// JSON parses the body.
func (r Response) JSON(into any) error { return json.Unmarshal(r.Body, into) }

// Fetch lets the service make the request, so that the app does not wait for the response. It returns any response, whatever its
// status. A request without a response is retried like a step, and then fails with a *tidegate.StepError.
func Fetch(ctx context.Context, id string, options FetchOpts) (Response, error) {
	if options.URL == "" {
		return Response{}, fmt.Errorf("step %q makes a request: it needs URL", id)
	}
	opts := map[string]any{"url": options.URL}
	if options.Method != "" {
		opts["method"] = options.Method
	}
	if options.Headers != nil {
		opts["headers"] = options.Headers
	}
	if options.Body != nil {
		opts["body"] = options.Body
	}
	if text, ok := options.Body.([]byte); ok {
		opts["body"] = string(text)
	}
	type wire struct {
		Status  int               `json:"status_code"`
		Headers map[string]string `json:"headers"`
		Body    *string           `json:"body"`
		URL     string            `json:"url"`
	}
	got, err := decode[wire](id)(doWithOpts(ctx, replay.Description{Kind: replay.KindFetch, ID: id, Opts: opts}))
	if err != nil {
		return Response{}, err
	}
	response := Response{Status: got.Status, Headers: got.Headers, URL: got.URL}
	if got.Body != nil {
		response.Body = []byte(*got.Body)
	}
	return response, nil
}

// InferOpts describe a request to a model provider that the service makes.
type InferOpts struct {
	URL string
	// Format says how the provider takes AuthKey: openai-chat, openai-responses, anthropic, gemini, grok, azure-openai; any
	// other as a bearer token.
	Format  string
	AuthKey string
	Headers map[string]string
	// Body is sent as JSON.
	Body any
}

// Infer sends a request to a model through the service, and returns the JSON of the response. A status other than 2xx is
// an error, which is retried if that may help; otherwise it returns a *tidegate.StepError.
func Infer[T any](ctx context.Context, id string, options InferOpts) (T, error) {
	var none T
	if options.URL == "" || options.Format == "" || options.Body == nil {
		return none, fmt.Errorf("step %q asks a model: it needs URL, Format and Body", id)
	}
	opts := map[string]any{"type": "step.ai.infer", "url": options.URL, "format": options.Format, "body": options.Body}
	if options.AuthKey != "" {
		opts["auth_key"] = options.AuthKey
	}
	if options.Headers != nil {
		opts["headers"] = options.Headers
	}
	return decode[T](id)(doWithOpts(ctx, replay.Description{Kind: replay.KindInfer, ID: id, Opts: opts}))
}

// doWithOpts fails if the options cannot be written as JSON: here the error can name the step.
func doWithOpts(ctx context.Context, d replay.Description) (json.RawMessage, error) {
	if _, err := replay.Encode(d.Opts); err != nil {
		return nil, fmt.Errorf("the data of step %q cannot be written as JSON: %w", d.ID, err)
	}
	return replay.Do(ctx, d)
}
