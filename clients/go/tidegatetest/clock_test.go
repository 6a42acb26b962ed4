package tidegatetest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

func TestTheClockMovesOnUntilTheServiceHasReachedTheTime(t *testing.T) {
	var asked []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, fmt.Sprintf("%s %s %s", r.Method, r.URL.Path, body))
		reached := map[bool]string{true: "limit", false: "target"}[len(asked) == 1]
		_, _ = fmt.Fprintf(w, `{"data": {"now": "2026-01-02T00:00:00.000Z", "target": "1970-01-01T00:00:09Z", "reached": %q, `+
			`"runs_started": 2, "runs_ended": 1, "waiting": 3}}`, reached)
	}))
	defer service.Close()
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	if moved := tidegatetest.AdvanceClock(t, service.URL, time.Minute); moved != (tidegatetest.Moved{now, 4, 2, 3}) {
		t.Errorf("got %v", moved)
	}
	tidegatetest.MoveClock(t, service.URL+"/", time.UnixMilli(7))
	want := []string{
		`POST /v1/dev/clock {"advance":"60000ms"}`,
		`POST /v1/dev/clock {"to":9000}`,
		`POST /v1/dev/clock {"to":7}`,
	}
	if !slices.Equal(asked, want) {
		t.Errorf("got %q", asked)
	}
}
