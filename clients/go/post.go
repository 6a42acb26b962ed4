package tidegate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

const (
	maxTries      = 5
	tryTimeout    = 30 * time.Second
	maxRetryAfter = 30 * time.Second
	firstBackoff  = 200 * time.Millisecond
)

type postRequest struct {
	// body is a JSON array of events.
	body []byte
	seed string
}

// failure is the result of a failed attempt.
type failure struct {
	message    string
	status     int
	code       string
	requestID  string
	cause      error
	retriable  bool
	retryAfter string
	// limitBytes of a request, as the service names it; 0: it does not.
	limitBytes int
	// index of the event at fault in the request; nil: the service does not name one.
	index *int
}

// postEvents is one request with events, tried again until the service has taken it, refused it, or five tries have
// failed. Every try repeats seed and body, so events that did arrive are not stored twice.
func postEvents(ctx context.Context, r postRequest, s settings) ([]string, *failure, error) {
	for tries := 1; ; tries++ {
		ids, failed, err := tryOnce(ctx, r, s)
		if err != nil || failed == nil || !failed.retriable || tries == maxTries {
			return ids, failed, err
		}
		c := clock.Of(ctx)
		c.Sleep(ctx, delayOf(failed, tries, c))
		if ended := abandoned(ctx, failed); ended != nil {
			return nil, ended, nil
		}
	}
}

func tryOnce(ctx context.Context, r postRequest, s settings) ([]string, *failure, error) {
	baseURL, err := s.baseURL()
	if err != nil {
		return nil, nil, err
	}
	key, err := s.eventKey()
	if err != nil {
		return nil, nil, err
	}
	header := http.Header{}
	header.Set("content-type", "application/json")
	header.Set(headerSDK, sdkName)
	header.Set(headerEventIDSeed, r.seed)
	if env := s.env(); env != "" {
		header.Set(headerEnv, env)
	}
	answer, err := roundTrip(ctx, s.httpClient(), http.MethodPost, baseURL+"/e/"+escape(key), header, r.body, tryTimeout)
	if ended := abandoned(ctx, nil); err != nil && ended != nil {
		return nil, ended, nil
	}
	if err != nil {
		// The address without its path: the key in it is a secret.
		return nil, &failure{message: s.unreachable(baseURL, err), cause: err, retriable: true}, nil
	}
	ids, failed := readIDs(answer)
	if failed != nil {
		failed.message += s.refusedHint(failed.status)
	}
	return ids, failed, nil
}

// escape makes one segment of a path of any text.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// abandoned is the error of a send whose context has ended; nil otherwise. before is the result of the last attempt,
// when there was one.
func abandoned(ctx context.Context, before *failure) *failure {
	if ctx.Err() == nil {
		return nil
	}
	f := &failure{message: "The send was aborted", code: "aborted", cause: ctx.Err()}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		f.message, f.code = "The send was not done in time", "timeout"
	}
	if reason := context.Cause(ctx); reason != ctx.Err() {
		f.cause = errors.Join(ctx.Err(), reason)
	}
	if before != nil {
		f.message += ". Until then: " + before.message
		f.status, f.requestID = before.status, before.requestID
	}
	return f
}

func readIDs(a answer) ([]string, *failure) {
	var body struct {
		IDs   []string        `json:"ids"`
		Error json.RawMessage `json:"error"`
		Code  json.RawMessage `json:"code"`
		Limit json.RawMessage `json:"limit_bytes"`
		Index json.RawMessage `json:"index"`
	}
	// A body that cannot be parsed has none of these fields.
	_ = json.Unmarshal(bytes.TrimSpace(a.body), &body)
	if a.ok() && body.IDs != nil {
		return body.IDs, nil
	}
	message := fmt.Sprintf("The response (%d) has no ids, so it did not come from the service", a.status)
	if !a.ok() {
		message = firstOf(textOf(body.Error), fmt.Sprintf("The service answered %d", a.status))
	}
	limitBytes := 0
	// A limit that is not a number counts as absent.
	_ = json.Unmarshal(body.Limit, &limitBytes)
	var index *int
	// So does an index.
	_ = json.Unmarshal(body.Index, &index)
	return nil, &failure{
		index:      index,
		limitBytes: limitBytes,
		message:    message,
		status:     a.status,
		code:       textOf(body.Code),
		requestID:  a.header.Get(headerRequestID),
		retriable:  a.status == http.StatusRequestTimeout || a.status == http.StatusTooManyRequests || a.status >= 500,
		retryAfter: a.header.Get(headerRetryAfter),
	}
}

// textOf is empty when the JSON is no text.
func textOf(value json.RawMessage) string {
	var text string
	_ = json.Unmarshal(value, &text)
	return text
}

// delayOf is the delay that the service asks for; otherwise exponential backoff with full jitter.
func delayOf(f *failure, tries int, c clock.Clock) time.Duration {
	if asked, ok := timing.RetryAfter(f.retryAfter, c.Now()); ok {
		return min(asked, maxRetryAfter)
	}
	return time.Duration(c.Random() * float64(firstBackoff<<(tries-1)))
}
