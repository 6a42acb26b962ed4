package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// program is a function's body: a list of statements.
type program []statement

// statement has the fields of all kinds of them; the first of each kind tells which it is.
type statement struct {
	Log           string            `json:"log"`
	Message       any               `json:"message"`
	Fields        map[string]any    `json:"fields"`
	Times         int               `json:"times"`
	Run           string            `json:"run"`
	Logs          program           `json:"logs"`
	Gives         json.RawMessage   `json:"gives"`
	Throws        *thrown           `json:"throws"`
	Sleep         string            `json:"sleep"`
	For           json.RawMessage   `json:"for"`
	SleepUntil    string            `json:"sleep_until"`
	Until         string            `json:"until"`
	SendEvent     string            `json:"send_event"`
	Events        events            `json:"events"`
	WaitForEvent  string            `json:"wait_for_event"`
	Event         string            `json:"event"`
	Timeout       json.RawMessage   `json:"timeout"`
	If            string            `json:"if"`
	Invoke        string            `json:"invoke"`
	Function      invoked           `json:"function"`
	Data          json.RawMessage   `json:"data"`
	WaitForSignal string            `json:"wait_for_signal"`
	Signal        string            `json:"signal"`
	Conflict      string            `json:"conflict"`
	SendSignal    string            `json:"send_signal"`
	Fetch         string            `json:"fetch"`
	URL           string            `json:"url"`
	Method        string            `json:"method"`
	Headers       map[string]string `json:"headers"`
	Body          json.RawMessage   `json:"body"`
	Infer         string            `json:"infer"`
	Format        string            `json:"format"`
	AuthKey       string            `json:"auth_key"`
	Parallel      *[]program        `json:"parallel"`
	Race          *[]program        `json:"race"`
	Try           *program          `json:"try"`
	Catch         program           `json:"catch"`
	When          string            `json:"when"`
	Then          program           `json:"then"`
	Else          program           `json:"else"`
	Throw         *thrown           `json:"throw"`
	Return        json.RawMessage   `json:"return"`
	As            string            `json:"as"`
}

// invoked is a function by its ID, or a reference.
type invoked struct {
	compositeID string
	App         string `json:"app"`
	ID          string `json:"id"`
}

func (i *invoked) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &i.compositeID) == nil {
		return nil
	}
	type reference invoked
	return readStrictly(text, (*reference)(i))
}

type thrown struct {
	Kind    string          `json:"kind"`
	Message string          `json:"message"`
	AfterMs float64         `json:"after_ms"`
	Cause   *thrown         `json:"cause"`
	Data    json.RawMessage `json:"data"`
	Code    any             `json:"code"`
}

// caused has a message of its own, unlike most errors that wrap another one.
type caused struct {
	message string
	cause   error
}

func (e *caused) Error() string { return e.message }

func (e *caused) Unwrap() error { return e.cause }

func (e thrown) error() error {
	err := errors.New(e.Message)
	if e.Cause != nil {
		err = &caused{e.Message, e.Cause.error()}
	}
	if e.Code != nil || e.Data != nil {
		var data any
		if e.Data != nil {
			data = e.Data
		}
		err = tidegate.Detailed(err, e.Code, data)
	}
	switch e.Kind {
	case "non-retriable":
		return tidegate.NonRetriable(err)
	case "retry-after":
		return tidegate.RetryAfter(err, time.Duration(e.AfterMs*float64(time.Millisecond)))
	default:
		return err
	}
}

// variables of a program, by name.
type variables map[string]any

// runAs runs it as a function's body.
func (p program) runAs(ctx context.Context, event json.RawMessage, runID string, attempt, maxAttempts int, failure *tidegate.RunError) (any, error) {
	v := variables{"run_id": runID, "attempt": attempt, "max_attempts": maxAttempts}
	if failure != nil {
		v["error"] = map[string]any{"name": failure.Name, "message": failure.Message}
	}
	var whole any
	if err := json.Unmarshal(event, &whole); err != nil {
		return nil, err
	}
	v["event"] = whole
	value, _, err := p.run(ctx, v)
	return value, err
}

// run says whether the program has returned.
func (p program) run(ctx context.Context, v variables) (value any, returned bool, err error) {
	for _, s := range p {
		value, returned, err := s.run(ctx, v)
		if returned || err != nil {
			return value, returned, err
		}
		if s.As != "" {
			v[s.As] = value
		}
	}
	return nil, false, nil
}

func (s statement) run(ctx context.Context, v variables) (value any, returned bool, err error) {
	switch {
	case s.Try != nil:
		value, returned, err := s.Try.run(ctx, v)
		if err == nil {
			return value, returned, nil
		}
		v["error"] = asValue(err)
		return s.Catch.run(ctx, v)
	case s.When != "":
		if v.at(s.When) != nil {
			return s.Then.run(ctx, v)
		}
		return s.Else.run(ctx, v)
	case s.Log != "":
		s.log(ctx)
		return nil, false, nil
	case s.Throw != nil:
		return nil, false, s.Throw.error()
	case s.Return != nil:
		value, err := v.read(s.Return)
		return value, true, err
	default:
		value, err := s.step(ctx, v)
		return value, false, err
	}
}

// step is a statement that is one, or several side by side.
func (s statement) step(ctx context.Context, v variables) (any, error) {
	switch {
	case s.Run != "":
		return step.Run(ctx, s.Run, func(context.Context) (any, error) {
			for _, line := range s.Logs {
				line.log(ctx)
			}
			if s.Throws != nil {
				return nil, s.Throws.error()
			}
			return v.read(s.Gives)
		})
	case s.Sleep != "":
		length, err := lengthOf(s.For)
		if err != nil {
			return nil, err
		}
		return nil, step.Sleep(ctx, s.Sleep, length)
	case s.SleepUntil != "":
		moment, err := time.Parse(time.RFC3339, s.Until)
		if err != nil {
			return nil, err
		}
		return nil, step.SleepUntil(ctx, s.SleepUntil, moment)
	case s.SendEvent != "":
		return s.send(ctx, v)
	case s.WaitForEvent != "":
		return s.wait(ctx)
	case s.Invoke != "":
		return s.invoke(ctx, v)
	case s.WaitForSignal != "" || s.SendSignal != "" || s.Fetch != "" || s.Infer != "":
		return s.newer(ctx, v)
	case s.Parallel != nil:
		return step.All(ctx, branchesOf(*s.Parallel, v)...)
	case s.Race != nil:
		return step.Race(ctx, branchesOf(*s.Race, v)...)
	default:
		return nil, fmt.Errorf("there is no such statement: %+v", s)
	}
}

func (s statement) send(ctx context.Context, v variables) (any, error) {
	value, err := v.read(s.Events.raw())
	if err != nil {
		return nil, err
	}
	var sent events
	if err := sent.UnmarshalJSON(must(json.Marshal(value))); err != nil {
		return nil, err
	}
	if sent.isList {
		ids, err := step.SendMany(ctx, s.SendEvent, sent.typed())
		return map[string]any{"ids": ids}, err
	}
	id, err := step.SendEvent(ctx, s.SendEvent, sent.typed()[0])
	return map[string]any{"ids": []any{id}}, err
}

func (s statement) wait(ctx context.Context) (any, error) {
	timeout, err := lengthOf(s.Timeout)
	if err != nil {
		return nil, err
	}
	event, err := step.WaitForEvent[any](ctx, s.WaitForEvent, step.WaitForEventOpts{Event: s.Event, Timeout: timeout, If: s.If})
	if errors.Is(err, step.ErrEventNotReceived) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var whole any
	return whole, errors.Join(err, json.Unmarshal(event.Raw, &whole))
}

func (s statement) invoke(ctx context.Context, v variables) (any, error) {
	options := step.InvokeOpts{FunctionID: s.Function.compositeID}
	if s.Function.ID != "" {
		options.Function = tidegate.ReferenceFunction[any, any](s.Function.App, s.Function.ID)
	}
	if s.Timeout != nil {
		timeout, err := lengthOf(s.Timeout)
		if err != nil {
			return nil, err
		}
		options.Timeout = timeout
	}
	if s.Data != nil {
		data, err := v.read(s.Data)
		if err != nil {
			return nil, err
		}
		options.Data = data
	}
	return step.Invoke[any](ctx, s.Invoke, options)
}

func branchesOf(programs []program, v variables) []func(context.Context) (any, error) {
	branches := make([]func(context.Context) (any, error), len(programs))
	for i, body := range programs {
		own := maps.Clone(v)
		branches[i] = func(ctx context.Context) (any, error) {
			value, _, err := body.run(ctx, own)
			return value, err
		}
	}
	return branches
}

// asValue is an error as the variable `error` has it.
func asValue(err error) map[string]any {
	value := map[string]any{"name": "Error", "message": err.Error()}
	var failed *tidegate.StepError
	if !errors.As(err, &failed) {
		return value
	}
	value["name"], value["code"] = failed.Name, failed.Code
	var data any
	if json.Unmarshal(failed.Data, &data) == nil {
		value["data"] = data
	}
	var cause *tidegate.CauseError
	if errors.As(err, &cause) {
		value["cause"] = map[string]any{"name": cause.Name, "message": cause.Message}
	}
	return value
}

// at is what the path leads to; nil where it leads nowhere.
func (v variables) at(path string) any {
	var value any = map[string]any(v)
	for _, name := range strings.Split(path, ".") {
		switch inner := value.(type) {
		case map[string]any:
			value = inner[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(inner) {
				return nil
			}
			value = inner[i]
		default:
			return nil
		}
	}
	return value
}

// read is a value with the variables that it names.
func (v variables) read(text json.RawMessage) (any, error) {
	if text == nil {
		return nil, nil
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return v.resolve(value), nil
}

func (v variables) resolve(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = v.resolve(value[i])
		}
	case map[string]any:
		if path, ok := value["$"].(string); ok {
			return v.at(path)
		}
		for name := range value {
			value[name] = v.resolve(value[name])
		}
	}
	return value
}
