package tidegate

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
	"github.com/tidegate/tidegate/clients/go/internal/run"
)

// runCall runs the function as far as this call takes it.
func runCall(ctx context.Context, f *function, c call, logger *slog.Logger, service run.Service) replay.Progress {
	if c.maxAttempts == 0 {
		c.maxAttempts = f.retries + 1
	}
	hooks := replay.Hooks{
		Describe:  describe,
		Classify:  func(err error) (bool, *int64) { return isNonRetriable(err), retryAfterSeconds(err) },
		StepError: newStepError,
	}
	ctx = run.With(ctx, run.Run{ID: c.runID, EventTime: c.eventTime(), Service: service})
	return replay.Run(ctx, c.replay, hooks, func(ctx context.Context, replaying func() bool) (any, error) {
		return f.call(ctx, c, slog.New(quietHandler{logger.Handler(), replaying}))
	})
}

// answerOf is a call's outcome in the protocol's terms: 200 done, 206 under way, 400 failed for good, 500 try again.
// An output that cannot be written as JSON fails the attempt.
func answerOf(progress replay.Progress) AppAnswer {
	switch progress.Kind {
	case replay.Under:
		return underWay(progress)
	case replay.Failed:
		return failedWith(progress.Err)
	}
	output, err := replay.Encode(progress.Output)
	if err != nil {
		return failedWith(err)
	}
	return AppAnswer{Status: http.StatusOK, Header: http.Header{}, Body: output}
}

func underWay(progress replay.Progress) AppAnswer {
	a := jsonAnswer(http.StatusPartialContent, progress.Ops)
	for _, op := range progress.Ops {
		if op.Error != nil {
			a.Header.Set(headerNoRetry, strconv.FormatBool(op.Code == replay.OpStepFailed))
			break
		}
	}
	setRetryAfter(a.Header, progress.RetryAfterSeconds)
	return a
}

func failedWith(err error) AppAnswer {
	final := isFinal(err)
	status := http.StatusInternalServerError
	if final {
		status = http.StatusBadRequest
	}
	a := jsonAnswer(status, describe(err))
	a.Header.Set(headerNoRetry, strconv.FormatBool(final))
	setRetryAfter(a.Header, retryAfterSeconds(err))
	return a
}

func setRetryAfter(header http.Header, seconds *int64) {
	if seconds != nil {
		header.Set(headerRetryAfter, strconv.FormatInt(*seconds, 10))
	}
}

// jsonAnswer is of values that always can be written as JSON.
func jsonAnswer(status int, body any) AppAnswer {
	text, err := replay.Encode(body)
	if err != nil {
		return AppAnswer{Status: http.StatusInternalServerError, Header: http.Header{}, Body: []byte("null")}
	}
	return AppAnswer{Status: status, Header: http.Header{}, Body: text}
}
