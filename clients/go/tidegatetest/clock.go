package tidegatetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

const clockTimeout = 90 * time.Second

// Moved is what happened while the clock of a service moved.
type Moved struct {
	// Now is the time of the service.
	Now time.Time
	// RunsStarted counts runs that had their first call.
	RunsStarted int
	RunsEnded   int
	// Waiting are active runs, which sleep or wait.
	Waiting int
}

// AdvanceClock lets time pass for a service in dev mode, such as http://127.0.0.1:8288. It returns when everything that is due
// until then has happened, in its order. The test fails when the service refuses, as in production, or when something does
// not end, such as a call.
func AdvanceClock(t testing.TB, serviceURL string, by time.Duration) Moved {
	t.Helper()
	return mustMove(t, serviceURL, map[string]any{"advance": fmt.Sprintf("%dms", by.Milliseconds())})
}

// MoveClock is AdvanceClock up to a time.
func MoveClock(t testing.TB, serviceURL string, to time.Time) Moved {
	t.Helper()
	return mustMove(t, serviceURL, map[string]any{"to": to.UnixMilli()})
}

func mustMove(t testing.TB, serviceURL string, wanted map[string]any) Moved {
	t.Helper()
	moved, err := moveClock(t.Context(), serviceURL, wanted)
	if err != nil {
		t.Fatalf("tidegatetest: %v", err)
	}
	return moved
}

type clockAnswer struct {
	Data struct {
		Now         time.Time `json:"now"`
		Target      time.Time `json:"target"`
		Reached     string    `json:"reached"`
		RunsStarted int       `json:"runs_started"`
		RunsEnded   int       `json:"runs_ended"`
		Waiting     int       `json:"waiting"`
	} `json:"data"`
	Error string `json:"error"`
}

func moveClock(ctx context.Context, serviceURL string, wanted map[string]any) (Moved, error) {
	var sum Moved
	for {
		answer, err := postClock(ctx, serviceURL, wanted)
		if err != nil {
			return sum, err
		}
		data := answer.Data
		sum = Moved{data.Now, sum.RunsStarted + data.RunsStarted, sum.RunsEnded + data.RunsEnded, data.Waiting}
		switch data.Reached {
		case "target":
			return sum, nil
		case "limit":
			wanted = map[string]any{"to": data.Target.UnixMilli()}
		default:
			return sum, fmt.Errorf("the clock stopped at %s: something does not end, such as a call", data.Now)
		}
	}
}

func postClock(ctx context.Context, serviceURL string, wanted map[string]any) (clockAnswer, error) {
	var answer clockAnswer
	body, err := json.Marshal(wanted)
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	url := strings.TrimRight(serviceURL, "/") + "/v1/dev/clock"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return answer, err
	}
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer, err
	}
	defer func() { _ = response.Body.Close() }()
	err = json.NewDecoder(response.Body).Decode(&answer)
	if response.StatusCode == http.StatusOK {
		return answer, err
	}
	reason := answer.Error
	if reason == "" {
		reason = fmt.Sprintf("%s answered %d", url, response.StatusCode)
	}
	return answer, errors.New("the clock was not moved: " + reason)
}
