package tidegatetest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
	"github.com/tidegate/tidegate/clients/go/internal/timing"
)

// testRun is the state that a service would keep of one run.
type testRun struct {
	// id is new in each run: step.Transaction would find what the same ID has stored in a database.
	id    string
	fn    function
	stubs map[string]any
	// failures are of the first attempts of steps, by step ID.
	failures map[string][]error
	retries  int
	logger   *slog.Logger
	events   []json.RawMessage
	memos    map[string]json.RawMessage
	order    []string
	// ends are when sleeps and waits end, by hashed step ID.
	ends   map[string]time.Time
	now    time.Time
	result Result
}

func newRun(ctx context.Context, fn function, options Opts) (*testRun, error) {
	retries, _ := fn.FactsForTest()
	r := &testRun{
		id:       "test-run-" + rand.Text(),
		fn:       fn,
		stubs:    options.Steps,
		failures: options.Failures,
		retries:  retries,
		logger:   options.Logger,
		memos:    map[string]json.RawMessage{},
		ends:     map[string]time.Time{},
		now:      options.Now,
	}
	if options.Retries != nil {
		r.retries = *options.Retries
	}
	if r.logger == nil {
		r.logger = slog.New(slog.DiscardHandler)
	}
	if r.now.IsZero() {
		r.now = time.Now()
	}
	given := options.Events
	if given == nil {
		given = []any{options.Event}
	}
	for _, event := range given {
		text, err := r.arrived(ctx, event)
		if err != nil {
			return nil, err
		}
		r.events = append(r.events, text)
	}
	return r, nil
}

// arrived is an event as the service would deliver it, with missing fields filled in.
func (r *testRun) arrived(ctx context.Context, event any) (json.RawMessage, error) {
	_, name := r.fn.FactsForTest()
	if name == "" {
		name = "test/scheduled"
	}
	whole := map[string]any{"name": name, "data": map[string]any{}, "id": "test-event", "ts": r.now.UnixMilli()}
	return r.fillUp(ctx, whole, event, "")
}

// fillUp is whole with the event's fields instead of its own, and data as stored.
func (r *testRun) fillUp(ctx context.Context, whole map[string]any, event any, awaited string) (json.RawMessage, error) {
	text, err := replay.Encode(event)
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fmt.Errorf("%T is not an event: %w", event, err)
	}
	if string(given["name"]) == `""` {
		delete(given, "name")
	}
	for field, value := range given {
		whole[field] = value
	}
	name := awaited
	if name == "" {
		name = nameIn(whole["name"])
	}
	data, err := r.encodeEvent(ctx, name, whole["data"])
	if err != nil {
		return nil, err
	}
	whole["data"] = data
	return replay.Encode(whole)
}

// nameIn is of a name as it was given, or as JSON.
func nameIn(given any) string {
	text, _ := replay.Encode(given) // of texts only
	var name string
	_ = json.Unmarshal(text, &name)
	return name
}

// toItsEnd fails when the test lacks a stub.
func (r *testRun) toItsEnd(ctx context.Context) error {
	for {
		progress, err := r.callUntilItSucceeds(ctx)
		if err != nil {
			return err
		}
		switch progress.Kind {
		case replay.Done:
			output, err := replay.Encode(progress.Output)
			if err != nil {
				r.result.Err = err
				return nil
			}
			r.result.Output, err = r.fn.DecodeForTest(ctx, output, tidegate.AtOutput, r.places().Output())
			return err
		case replay.Failed:
			r.result.Err = progress.Err
			return nil
		}
		if err := r.goOn(ctx, progress.Ops); err != nil {
			return err
		}
	}
}

// goOn finishes the steps that can be finished; if there are none, the first step whose time is over.
func (r *testRun) goOn(ctx context.Context, ops []replay.Op) error {
	var waiting []replay.Op
	for _, op := range ops {
		ended, err := r.stub(ctx, op)
		if err == nil && ended == nil && op.Code == replay.OpStepPlanned {
			ended, err = r.runStep(ctx, op)
		}
		if err != nil {
			return err
		}
		if ended == nil {
			waiting = append(waiting, op)
			continue
		}
		if err := r.finish(ctx, op, *ended); err != nil {
			return err
		}
	}
	if len(waiting) == len(ops) {
		return r.finishFirst(ctx, waiting)
	}
	return nil
}

func (r *testRun) callUntilItSucceeds(ctx context.Context) (replay.Progress, error) {
	for attempt := 0; ; attempt++ {
		progress, err := r.call(ctx, attempt, "")
		failed := err == nil && progress.Kind == replay.Failed
		if !failed || r.fn.IsFinalForTest(progress.Err) || attempt >= r.retries {
			return progress, err
		}
	}
}

func (r *testRun) runStep(ctx context.Context, op replay.Op) (*ending, error) {
	for attempt := 0; ; attempt++ {
		ended, mayRetry, err := r.attempt(ctx, op, attempt)
		if err != nil {
			return nil, err
		}
		if ended.failure == nil || !mayRetry || attempt >= r.retries {
			ended.attempts = attempt + 1
			return ended, nil
		}
	}
}

// attempt is one attempt of a step. It says whether another may follow when it failed.
func (r *testRun) attempt(ctx context.Context, op replay.Op, attempt int) (*ending, bool, error) {
	if failures := r.failures[op.DisplayName]; attempt < len(failures) {
		failure := failures[attempt]
		return &ending{failure: r.fn.DescribeForTest(failure)}, !r.fn.IsFinalForTest(failure), nil
	}
	progress, err := r.call(ctx, attempt, op.ID)
	if err != nil {
		return nil, false, err
	}
	if len(progress.Ops) == 0 {
		return nil, false, fmt.Errorf("step %q was not found again", op.DisplayName)
	}
	outcome := progress.Ops[0]
	return &ending{data: outcome.Data, failure: outcome.Error}, outcome.Code == replay.OpStepError, nil
}

// call calls the function as the service would. A single step is planned too, so that it can be stubbed.
func (r *testRun) call(ctx context.Context, attempt int, stepID string) (replay.Progress, error) {
	body, err := replay.Encode(map[string]any{
		"event":  r.events[0],
		"events": r.events,
		"steps":  maps.Clone(r.memos),
		"ctx": map[string]any{
			"run_id":                      r.id,
			"attempt":                     attempt,
			"max_attempts":                r.retries + 1,
			"disable_immediate_execution": true,
			"stack":                       map[string]any{"stack": r.order},
		},
	})
	if err != nil {
		return replay.Progress{}, err
	}
	return r.fn.ReplayForTest(ctx, body, stepID, r.logger, run.Service{Send: r.keep, SendSignal: r.keepSignal, Publish: r.keepMessage})
}

// keep keeps events instead of sending them.
func (r *testRun) keep(ctx context.Context, events []any, _ string) ([]string, error) {
	var ids []string
	for _, event := range events {
		text, err := replay.Encode(event)
		if err == nil {
			text, err = r.fn.DecodeEventForTest(ctx, text)
		}
		if err != nil {
			return nil, err
		}
		var sent tidegate.Event
		if err := json.Unmarshal(text, &sent); err != nil {
			return nil, err
		}
		sent.Raw = nil
		r.result.Sent = append(r.result.Sent, sent)
		ids = append(ids, fmt.Sprintf("test-event-%d", len(r.result.Sent)))
	}
	return ids, nil
}

func (r *testRun) keepSignal(_ context.Context, signal string, data any) (string, error) {
	r.result.Signals = append(r.result.Signals, Signal{Name: signal, Data: data})
	return "", nil
}

func (r *testRun) keepMessage(_ context.Context, channel, topic string, data any) error {
	r.result.Published = append(r.result.Published, Message{Channel: channel, Topic: topic, Data: data})
	return nil
}

func (r *testRun) finish(ctx context.Context, op replay.Op, ended ending) error {
	r.memos[op.ID] = ended.memoOf(op)
	r.order = append(r.order, op.ID)
	data, err := r.decodeResult(ctx, op, ended.data)
	if err != nil {
		return err
	}
	done := Step{ID: op.DisplayName, Kind: kindOf(op), Data: bytes.Clone(data), Attempts: max(ended.attempts, 1), EndedAt: r.now}
	if f := ended.failure; f != nil {
		errors.As(r.fn.StepErrorForTest(op.DisplayName, f), &done.Err)
	}
	r.result.Steps = append(r.result.Steps, done)
	return nil
}

// finishFirst finishes, of steps that only wait, the first whose time is over: it is then.
func (r *testRun) finishFirst(ctx context.Context, waiting []replay.Op) error {
	var first replay.Op
	var firstEnd time.Time
	for _, op := range waiting {
		end, err := r.endOf(op)
		if err != nil {
			return err
		}
		if first.ID == "" || end.Before(firstEnd) {
			first, firstEnd = op, end
		}
	}
	if firstEnd.After(r.now) {
		r.now = firstEnd
	}
	return r.finish(ctx, first, ending{data: json.RawMessage("null")})
}

func (r *testRun) endOf(op replay.Op) (time.Time, error) {
	if end, known := r.ends[op.ID]; known {
		return end, nil
	}
	length, ok := op.Opts["timeout"].(string)
	if !ok {
		length, _ = op.Opts["duration"].(string)
	}
	end, err := timing.Moment(length, r.now)
	r.ends[op.ID] = end
	return end, err
}

func kindOf(op replay.Op) string {
	kinds := map[any]string{
		replay.OpSleep:          "sleep",
		replay.OpWaitForEvent:   "waitForEvent",
		replay.OpWaitForSignal:  "waitForSignal",
		replay.OpInvokeFunction: "invoke",
		replay.OpGateway:        "fetch",
		replay.OpAIGateway:      "infer",
		"step.sendEvent":        "sendEvent",
		"step.sendSignal":       "sendSignal",
		"step.realtime.publish": "publish",
		"step.transaction":      "transaction",
	}
	if kind, known := kinds[op.Code]; known {
		return kind
	}
	if kind, known := kinds[op.Opts["type"]]; known {
		return kind
	}
	return "run"
}
