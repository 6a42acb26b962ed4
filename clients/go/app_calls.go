package tidegate

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
)

// appCalls runs calls of an app's functions, however they reach the app.
type appCalls struct {
	client *Client
	// functions includes functions that handle failures.
	functions   []*function
	byID        map[string]*function
	checkpoints checkpoints
}

// incomingCall is a call as received by the app.
type incomingCall struct {
	body []byte
	// target names a function, and optionally the one step to run.
	target signature.Target
	// sendCheckpoint is nil when that takes a request.
	sendCheckpoint sendCheckpoint
}

// newAppCalls fails when two functions share an ID, or one is another app's.
func newAppCalls(client *Client, functions []ServableFunction) (*appCalls, error) {
	a := &appCalls{client: client, byID: map[string]*function{}}
	for _, servable := range functions {
		f := servable.function()
		if f.appID != client.AppID() {
			return nil, fmt.Errorf("tidegate: function %q is of the app %q, not %q", f.id, f.appID, client.AppID())
		}
		a.functions = append(a.functions, f)
		if f.onFailure != nil {
			a.functions = append(a.functions, f.onFailure)
		}
	}
	for _, f := range a.functions {
		if a.byID[f.compositeID()] != nil {
			return nil, fmt.Errorf("tidegate: two functions of the app have the ID %q", f.id)
		}
		a.byID[f.compositeID()] = f
	}
	return a, nil
}

// run fails with a *ServeError when the call reaches no function.
func (a *appCalls) run(ctx context.Context, in incomingCall, s settings) (AppAnswer, error) {
	c, err := readCall(ctx, in.body, s)
	if err != nil {
		return AppAnswer{}, err
	}
	f := a.byID[in.target.FunctionID]
	if f == nil {
		message := fmt.Sprintf("The app has no function %q; register it again", in.target.FunctionID)
		return AppAnswer{}, &ServeError{Status: http.StatusInternalServerError, Message: message}
	}
	if in.target.StepID != "step" {
		c.replay.RequestedStep = in.target.StepID
	}
	if takesLogs(c, f, s) {
		c.logs = &logCollector{}
	}
	c.errorSource = s.errorSource()
	send := in.sendCheckpoint
	if send == nil {
		send = a.checkpoints.groups.sender(s)
	}
	kept := a.checkpoints.of(ctx, f, c, s, send, func() { sendLogs(ctx, c, s) })
	var unstored []replay.Op
	if kept != nil {
		c.replay.Checkpoint = kept.keep
	}
	progress := runCall(ctx, f, c, s.logger(), a.service())
	if kept != nil {
		unstored = kept.unstored
	}
	answer := answerOf(progress, c.describe, unstored)
	sendLogs(ctx, c, s)
	return answer, nil
}

func (a *appCalls) service() run.Service {
	return run.Service{
		Send: func(ctx context.Context, events []any, seed string) ([]string, error) {
			return a.client.sendAsIs(ctx, events, WithSeed(seed))
		},
		SendSignal: a.client.SendSignal,
		Publish:    a.client.Publish,
	}
}

// refusal is the response to a call that reached no function. Retrying may help, because the app may be fixed meanwhile.
func refusal(err error) AppAnswer {
	status := http.StatusInternalServerError
	var serve *ServeError
	if errors.As(err, &serve) {
		status = serve.Status
	}
	a := jsonAnswer(status, replay.WireError{Name: nameOf(err), Message: err.Error()})
	a.Header.Set(headerNoRetry, "false")
	return a
}
