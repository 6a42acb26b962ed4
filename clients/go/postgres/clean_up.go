package postgres

import (
	"context"
	"log/slog"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/pg"
)

const (
	maxForgotten = 10_000
	maxRuns      = 1_000
)

// cleanUp removes, once an hour, what is kept no longer. Nothing waits for it, so its failures are only logged.
func (r *Relay) cleanUp(ctx context.Context) {
	if time.Now().Before(r.cleanUpAt) {
		return
	}
	r.cleanUpAt = time.Now().Add(cleanUpEvery)
	if err := r.forget(ctx); err != nil && ctx.Err() == nil {
		r.client.Logger().WarnContext(ctx, "The relay of the outbox could not clean up", "error", err)
	}
}

func (r *Relay) forget(ctx context.Context) error {
	if r.options.KeepDays > 0 {
		if err := r.query(ctx, pg.OutboxForget, []any{r.options.KeepDays, maxForgotten}, nil); err != nil {
			return err
		}
	}
	for after := ""; ctx.Err() == nil; {
		runs, err := r.earlierRuns(ctx, after)
		if err != nil || len(runs) == 0 {
			return err
		}
		after = runs[len(runs)-1]
		found, err := foundOf(ctx, r.client, lookUpRuns, runs)
		if err != nil {
			return err
		}
		var gone []string
		for _, run := range runs {
			if !found[run] {
				gone = append(gone, run)
			}
		}
		if err := r.query(ctx, pg.StepsDelete, []any{pg.TextArray(gone), r.options.StepsKeepDays}, nil); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (r *Relay) earlierRuns(ctx context.Context, after string) ([]string, error) {
	var runs []string
	err := r.query(ctx, pg.StepsOfEarlierRuns, []any{r.options.StepsKeepDays, maxRuns, after}, func(scan func(...any) error) error {
		var run string
		err := scan(&run)
		runs = append(runs, run)
		return err
	})
	return runs, pg.Explain(err, "tidegate_steps")
}

// failureLog tells a failure that lasts once a minute.
type failureLog struct {
	last  string
	until time.Time
}

func (l *failureLog) tell(logger *slog.Logger, message string, err error) {
	if l.last == err.Error() && time.Now().Before(l.until) {
		return
	}
	l.last, l.until = err.Error(), time.Now().Add(logAgainAfter)
	logger.Warn(message, "error", err)
}

func (l *failureLog) pass() { l.last = "" }
