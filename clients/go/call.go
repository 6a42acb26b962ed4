package tidegate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

// call is a call request, read.
type call struct {
	event  json.RawMessage
	events []json.RawMessage
	runID  string
	// rerunOf are the runs whose results a re-run from a step has, the latest first.
	rerunOf []string
	attempt int
	// functionUUID and executionID are for checkpoints.
	functionUUID, executionID string
	// maxAttempts is 0 when the service does not say.
	maxAttempts int
	// takesLogs: the service accepts the lines that the function logs.
	takesLogs bool
	// logs is nil when it is not sent.
	logs *logCollector
	// errorSource: errors have the lines of code where they came about.
	errorSource bool
	replay      replay.Call
}

// callBody is the part of the body that is read here.
type callBody struct {
	Event  json.RawMessage   `json:"event"`
	Events []json.RawMessage `json:"events"`
	Steps  replay.Memos      `json:"steps"`
	UseAPI *bool             `json:"use_api"`
	Ctx    struct {
		RunID                     string   `json:"run_id"`
		RerunOf                   []string `json:"rerun_of"`
		FunctionID                string   `json:"fn_id"`
		ExecutionID               string   `json:"qi_id"`
		Attempt                   int      `json:"attempt"`
		MaxAttempts               int      `json:"max_attempts"`
		UseAPI                    bool     `json:"use_api"`
		Logs                      bool     `json:"logs"`
		DisableImmediateExecution bool     `json:"disable_immediate_execution"`
		Stack                     struct {
			Stack []string `json:"stack"`
		} `json:"stack"`
	} `json:"ctx"`
}

// readCall reads a call request's body. What did not fit into it is fetched from the service (docs/protocol.md#large-calls).
// It fails with a *ServeError when the body is not one of a call request, or the rest of it cannot be fetched.
func readCall(ctx context.Context, text []byte, s settings) (call, error) {
	var body callBody
	if err := readJSON(text, &body); err != nil {
		return call{}, err
	}
	if body.Ctx.RunID == "" {
		return call{}, notACall("it lacks ctx.run_id")
	}
	useAPI := body.Ctx.UseAPI
	if body.UseAPI != nil {
		useAPI = *body.UseAPI
	}
	if useAPI {
		if err := fetchState(ctx, &body, s); err != nil {
			return call{}, err
		}
	}
	if isAbsent(body.Event) && len(body.Events) > 0 {
		body.Event = body.Events[0]
	}
	if isAbsent(body.Event) {
		return call{}, notACall("it lacks event")
	}
	if body.Events == nil {
		body.Events = []json.RawMessage{body.Event}
	}
	return call{
		event:        body.Event,
		events:       body.Events,
		runID:        body.Ctx.RunID,
		rerunOf:      body.Ctx.RerunOf,
		attempt:      body.Ctx.Attempt,
		maxAttempts:  body.Ctx.MaxAttempts,
		takesLogs:    body.Ctx.Logs,
		functionUUID: body.Ctx.FunctionID,
		executionID:  body.Ctx.ExecutionID,
		replay: replay.Call{
			Memos:                     body.Steps,
			Order:                     body.Ctx.Stack.Stack,
			DisableImmediateExecution: body.Ctx.DisableImmediateExecution,
		},
	}, nil
}

// eventTime is when the triggering event was, in milliseconds since 1970.
func (c call) eventTime() int64 {
	var event struct {
		Timestamp float64 `json:"ts"`
	}
	// An event whose time is not a number counts as one without a time.
	_ = json.Unmarshal(c.event, &event)
	return int64(event.Timestamp)
}

func isAbsent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

// readJSON fills in what it can, even if the types of some fields are wrong.
func readJSON(text []byte, value any) error {
	err := json.Unmarshal(text, value)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return &ServeError{Status: http.StatusBadRequest, Message: "The body is not JSON", cause: err}
	}
	return nil
}

func notACall(reason string) error {
	return &ServeError{Status: http.StatusBadRequest, Message: "The body is not a call request: " + reason}
}

func fetchState(ctx context.Context, body *callBody, s settings) error {
	run := "/v0/runs/" + escape(body.Ctx.RunID)
	body.Events, body.Steps = nil, nil
	if err := fetchPart(ctx, run+"/batch", body.Ctx.RunID, &body.Events, s); err != nil {
		return err
	}
	return fetchPart(ctx, run+"/actions", body.Ctx.RunID, &body.Steps, s)
}

func fetchPart(ctx context.Context, path, runID string, into any, s settings) error {
	a, err := askService(ctx, serviceRequest{method: http.MethodGet, path: path}, s)
	if err != nil {
		return err
	}
	if !a.ok() {
		message := fmt.Sprintf("The state of run %s could not be fetched: the service answered %d", runID, a.status)
		return &ServeError{Status: http.StatusInternalServerError, Message: message}
	}
	return readJSON(a.body, into)
}
