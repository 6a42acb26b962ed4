package tidegate

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/hosted"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
)

// AppForConnect is for the package connect; other packages cannot use its result. It fails if two functions share an
// ID, or one is another app's.
func (c *Client) AppForConnect(functions []ServableFunction) (hosted.App, error) {
	calls, err := newAppCalls(c, functions)
	if err != nil {
		return hosted.App{}, err
	}
	wire := make([]fields, len(calls.functions))
	for i, f := range calls.functions {
		wire[i] = f.onTheWire(fields{"type": "ws"})
	}
	text, err := replay.Encode(wire)
	app := hosted.App{
		ID:         c.AppID(),
		SDK:        sdkName,
		Version:    c.options.AppVersion,
		Functions:  text,
		Logger:     func() *slog.Logger { return settings{options: c.options}.logger() },
		HTTPClient: func() *http.Client { return settings{options: c.options}.httpClient() },
		Ask:        c.askForConnect,
		Run:        calls.runForConnect,
	}
	return app, err
}

func (c *Client) askForConnect(ctx context.Context, path string, body []byte, within time.Duration) (hosted.Answer, error) {
	s, err := c.settings()
	if err != nil {
		return hosted.Answer{}, err
	}
	timed, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a, err := askService(timed, serviceRequest{http.MethodPost, path, http.Header{"Content-Type": {"application/json"}}, body}, s)
	if err != nil {
		return hosted.Answer{}, err
	}
	// It has answered, so its address is known.
	baseURL, _ := s.baseURL()
	return hosted.Answer{Status: a.status, Body: a.body, BaseURL: baseURL, Hint: s.refusedHint(a.status)}, nil
}

func (a *appCalls) runForConnect(ctx context.Context, call hosted.Call) hosted.Reply {
	in := incomingCall{
		body:           call.Body,
		target:         signature.Target{FunctionID: call.FunctionID, StepID: call.StepID},
		sendCheckpoint: call.SendCheckpoint,
	}
	s, err := a.client.settings()
	var answer AppAnswer
	if err == nil {
		answer, err = a.run(ctx, in, s)
	}
	if err != nil {
		answer = refusal(err)
	}
	return hosted.Reply{
		Status:     answer.Status,
		Body:       answer.Body,
		NoRetry:    answer.Header.Get(headerNoRetry) == "true",
		RetryAfter: answer.Header.Get(headerRetryAfter),
	}
}
