package tidegate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

const (
	logTries      = 2
	logTryTimeout = 2 * time.Second
	// answerWaits is for platforms where nothing runs after a response.
	answerWaits = time.Second
	// maxLogSends at the same time; more are left out.
	maxLogSends = 1_000
)

var logSends atomic.Int64

// takesLogs says whether the service gets the lines that the function logs. Unless the app says otherwise, they stay with the app
// if a middleware encodes values for the service: the lines may contain secret values.
func takesLogs(c call, f *function, s settings) bool {
	if told, ok := s.logs(); ok {
		return c.takesLogs && told
	}
	return c.takesLogs && !f.middleware.encodes()
}

// sendLogs sends the lines that a function has logged in a call, or up to a checkpoint of the call, at the same time as the
// response. Neither waits for the other, unless the platform stops the process with the response. The lines are in the app's
// own log, too, so failures are ignored.
func sendLogs(ctx context.Context, c call, s settings) {
	if c.logs == nil {
		return
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	batch := c.logs.takeBatch(hex.EncodeToString(id), c.attempt)
	if batch == nil || logSends.Load() >= maxLogSends {
		return
	}
	body, err := replay.Encode(batch)
	if err != nil {
		return
	}
	logSends.Add(1)
	unsent, end := context.WithCancel(ctx)
	go func() {
		defer end()
		defer logSends.Add(-1)
		postLogs(context.WithoutCancel(ctx), "/v0/runs/"+escape(c.runID)+"/logs", body, s)
	}()
	if s.stopsWithAnswer() {
		clock.Of(ctx).Sleep(unsent, answerWaits)
	}
}

// postLogs may repeat a batch: it is stored once.
func postLogs(ctx context.Context, path string, body []byte, s settings) {
	for range logTries {
		timed, cancel := context.WithTimeout(ctx, logTryTimeout)
		request := serviceRequest{method: http.MethodPost, path: path, header: http.Header{"Content-Type": {"application/json"}}, body: body}
		a, err := askService(timed, request, s)
		cancel()
		if err == nil && a.status < http.StatusInternalServerError {
			return
		}
	}
}
