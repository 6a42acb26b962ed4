package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"
)

// run runs one step and answers its outcome. A result that cannot be written as JSON fails the step too.
func (s *session) run(found *step) *Progress {
	s.setRunning(found.displayName)
	defer s.setRunning("")
	data, err := s.resultOf(found)
	if err == nil {
		op := found.opAs(OpStepRun)
		op.Data = data
		return &Progress{Kind: Under, Ops: []Op{op}}
	}
	final, retryAfter := s.hooks.Classify(err)
	op := found.opAs(OpStepError)
	if final {
		op.Code = OpStepFailed
	}
	op.Error = s.hooks.Describe(err)
	return &Progress{Kind: Under, Ops: []Op{op}, RetryAfterSeconds: retryAfter}
}

// resultOf runs the step and returns its encoded result.
func (s *session) resultOf(found *step) (json.RawMessage, error) {
	result, err := found.call(s.hooks.Values)
	if err != nil {
		return nil, err
	}
	data, err := Encode(result)
	if err != nil {
		return nil, fmt.Errorf("the result of step %q cannot be written as JSON: %w", found.displayName, err)
	}
	if s.hooks.Values == nil {
		return data, nil
	}
	return s.hooks.Values.EncodeResult(found.ctx, found.found(), data)
}

// runOnTheWay runs a step, and returns nil if the call continues.
func (s *session) runOnTheWay(found *step, call Call) *Progress {
	if call.Checkpoint == nil {
		return s.run(found)
	}
	start := time.Now()
	progress := s.run(found)
	op := &progress.Ops[0]
	op.Timing = &Timing{Start: start.UnixNano(), Duration: time.Since(start).Nanoseconds()}
	if op.Code != OpStepRun {
		return progress
	}
	if !call.Checkpoint(*op) {
		return &Progress{Kind: Under}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	memos := Memos{found.hashedID: append(append(json.RawMessage(`{"data":`), op.Data...), '}')}
	maps.Copy(memos, s.memos)
	s.memos = memos
	s.order = append(s.order, found.hashedID)
	return nil
}

func (s *session) setRunning(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = name
}

var errStepExited = errors.New("the step ended its goroutine (runtime.Goexit) without returning")

// call runs the step in a separate goroutine, because the step may end its goroutine.
func (s *step) call(values Values) (result any, err error) {
	ctx := location{branch: s.branch, step: s.displayName, hashedID: s.hashedID}.in(s.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = errStepExited
		defer func() {
			if value := recover(); value != nil {
				err = AsPanic(value)
			}
		}()
		run := func(ctx context.Context) (any, error) { return s.Run(ctx, s.hashedID) }
		if s.Own && values != nil {
			result, err = values.RunStep(ctx, s.ID, s.displayName, run)
		} else {
			result, err = run(ctx)
		}
	}()
	<-ended
	return result, err
}

// repeat is the outcome of a step that was run before, for a call that asks for it once more.
func (s *step) repeat(memo json.RawMessage) Op {
	data, failure := readMemo(memo, s.Kind)
	op := s.opAs(OpStepRun)
	op.Data = data
	if failure != nil {
		op = s.opAs(OpStepFailed)
		op.Error = failure
	}
	return op
}

// Encode writes JSON without escaping what only matters in HTML, which would make it larger.
func Encode(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
