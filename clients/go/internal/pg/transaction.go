package pg

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	maxRetries     = 10
	firstBackoff   = 10 * time.Millisecond
	maxBackoff     = time.Second
	rollbackWithin = 5 * time.Second
	// maxResultBytes is what the service takes of the memo of a step.
	maxResultBytes = 4 * 1_024 * 1_024
	memoBytes      = len(`{"data":}`)
)

// OutputTooLarge is a result that the service would not store. Its name is the service's.
type OutputTooLarge struct {
	Step  string
	Bytes int
}

func (e *OutputTooLarge) Error() string {
	return fmt.Sprintf("the output of step %q has %d bytes, more than %d; store large data elsewhere and return a reference", e.Step, e.Bytes, maxResultBytes)
}

// Step is a step that acts in a transaction. X is the library's own transaction.
type Step[X any] struct {
	RunID, HashedID, Name string
	// Begins is the statement that follows the begin; empty: none.
	Begins string
	Begin  func(ctx context.Context) (X, Tx, error)
	Do     func(ctx context.Context, tx X) (any, error)
}

// Once acts in the transaction that stores the result beside, unless an earlier attempt has: then it returns the stored result. A transaction that
// Postgres ends so that another one can continue is tried again.
func (s Step[X]) Once(ctx context.Context) (json.RawMessage, error) {
	for retries := 0; ; retries++ {
		result, err := s.attempt(ctx)
		if err == nil || retries == maxRetries || !mayPass(err) || ctx.Err() != nil {
			return result, err
		}
		c := clock.Of(ctx)
		c.Sleep(ctx, time.Duration(c.Random()*float64(min(firstBackoff<<retries, maxBackoff))))
	}
}

func (s Step[X]) attempt(ctx context.Context) (json.RawMessage, error) {
	own, tx, err := s.Begin(ctx)
	if err != nil {
		return nil, err
	}
	isOver := false
	defer func() {
		if isOver {
			return
		}
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWithin)
		defer cancel()
		_ = tx.Rollback(bounded)
	}()
	if s.Begins != "" {
		if err := tx.Query(ctx, s.Begins, nil, nil); err != nil {
			return nil, err
		}
	}
	isNew := false
	begun := func(func(...any) error) error { isNew = true; return nil }
	if err := tx.Query(ctx, StepBegin, []any{s.RunID, s.HashedID}, begun); err != nil {
		return nil, Explain(err, "tidegate_steps")
	}
	result, err := s.resultIn(ctx, own, tx, isNew)
	if err != nil {
		return nil, err
	}
	isOver = true
	return result, tx.Commit(ctx)
}

func (s Step[X]) resultIn(ctx context.Context, own X, tx Tx, isNew bool) (json.RawMessage, error) {
	if !isNew {
		return s.stored(ctx, tx)
	}
	value, err := s.Do(ctx, own)
	if err != nil {
		return nil, err
	}
	result, err := replay.Encode(value)
	if err != nil {
		return nil, fmt.Errorf("the result of step %q cannot be written as JSON: %w", s.Name, err)
	}
	if bytes := len(result) + memoBytes; bytes > maxResultBytes {
		return nil, &OutputTooLarge{Step: s.Name, Bytes: bytes}
	}
	return result, tx.Query(ctx, StepEnd, []any{s.RunID, s.HashedID, string(result)}, nil)
}

func (s Step[X]) stored(ctx context.Context, tx Tx) (json.RawMessage, error) {
	var stored *string
	read := func(scan func(...any) error) error { return scan(&stored) }
	if err := tx.Query(ctx, StepResult, []any{s.RunID, s.HashedID}, read); err != nil {
		return nil, err
	}
	if stored == nil {
		return nil, errors.New("the function of a step.Transaction has ended the transaction itself, so the result was not stored with its writes: leave Commit and Rollback to the step")
	}
	return json.RawMessage(*stored), nil
}
