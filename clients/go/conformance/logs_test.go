package conformance

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/replay"
)

type loggerKey struct{}

// withLogger hands the logger of the context to the statements of a program.
func withLogger(ctx context.Context, logger *slog.Logger) context.Context {
	return context.WithValue(ctx, loggerKey{}, logger)
}

var levels = map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}

func (s statement) log(ctx context.Context) {
	var attrs []slog.Attr
	for name, value := range s.Fields {
		attrs = append(attrs, slog.Any(name, withLongTexts(value)))
	}
	for range max(1, s.Times) {
		ctx.Value(loggerKey{}).(*slog.Logger).LogAttrs(ctx, levels[s.Log], withLongTexts(s.Message).(string), attrs...)
	}
}

// withLongTexts makes texts of {"of": "x", "length": 10000}.
func withLongTexts(given any) any {
	object, ok := given.(map[string]any)
	if !ok {
		return given
	}
	if of, ok := object["of"].(string); ok {
		return strings.Repeat(of, int(object["length"].(float64)))
	}
	filled := map[string]any{}
	for name, value := range object {
		filled[name] = withLongTexts(value)
	}
	return filled
}

type logsCase struct {
	titled
	Program     program           `json:"program"`
	Call        replayCall        `json:"call"`
	Environment map[string]string `json:"environment"`
	Replies     []reply           `json:"replies"`
	Answer      appAnswer         `json:"answer"`
	Batch       *expectedBatch    `json:"batch"`
	Tries       int               `json:"tries"`
}

type expectedBatch struct {
	Attempt int            `json:"attempt"`
	Lines   []expectedLine `json:"lines"`
	Dropped int            `json:"dropped"`
}

type expectedLine struct {
	Level   string         `json:"level"`
	Message any            `json:"message"`
	Fields  map[string]any `json:"fields"`
	Step    string         `json:"step"`
	Times   int            `json:"times"`
}

type sentBatch struct {
	Batch   string     `json:"batch"`
	Attempt int        `json:"attempt"`
	Lines   []sentLine `json:"lines"`
	Dropped int        `json:"dropped"`
}

type sentLine struct {
	At      int64          `json:"at"`
	Level   string         `json:"level"`
	Message string         `json:"message"`
	Fields  map[string]any `json:"fields"`
	Step    string         `json:"step"`
}

const logsPath = "/v0/runs/01HQZX8K2D3F4G5H6J7K8M9N0P/logs"

func logs(t *testing.T, c logsCase) {
	begin := time.Now().UnixMilli()
	client := devClient()
	client.logger = slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if c.Call.Logs == nil {
		takes := true
		c.Call.Logs = &takes
	}
	a := runAppCase(t, appCase{
		Client:      client,
		Environment: c.Environment,
		Functions:   []functionOptions{{ID: "fn", Triggers: []triggerOptions{{Event: "order/paid"}}, Program: c.Program}},
		Request:     appRequest{Method: http.MethodPost, Path: "/api/service?fnId=shop-fn&stepId=" + c.Call.stepID(), Body: c.Call.body(t)},
		Replies:     c.Replies,
		Answer:      c.Answer,
	})
	if c.Batch == nil {
		a.service.check(t, a.places, nil)
		return
	}
	bodies := a.service.bodies(t, max(1, c.Tries))
	for _, body := range bodies {
		if body != bodies[0] {
			t.Errorf("got another batch: %s", body)
		}
	}
	var batch sentBatch
	read(t, []byte(bodies[0]), &batch)
	if !regexp.MustCompile(`^[\w-]{1,40}$`).MatchString(batch.Batch) || batch.Attempt != c.Batch.Attempt || batch.Dropped != c.Batch.Dropped {
		t.Errorf("got the batch %q of the attempt %d, without %d lines", batch.Batch, batch.Attempt, batch.Dropped)
	}
	checkLines(t, c.Batch.Lines, batch.Lines, begin)
}

// bodies waits for this number of requests.
func (s *playedService) bodies(t *testing.T, count int) (bodies []string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		got := s.got
		s.mu.Unlock()
		if len(got) < count && time.Now().Before(end) {
			continue
		}
		if len(got) != count {
			t.Fatalf("expected %d requests, got %d", count, len(got))
		}
		for _, one := range got {
			if one.method != http.MethodPost || one.path != logsPath {
				t.Errorf("got %s %s", one.method, one.path)
			}
			bodies = append(bodies, string(one.body))
		}
		return bodies
	}
}

func checkLines(t *testing.T, expected []expectedLine, got []sentLine, begin int64) {
	t.Helper()
	var lines []expectedLine
	for _, line := range expected {
		for range max(1, line.Times) {
			lines = append(lines, line)
		}
	}
	if len(lines) != len(got) {
		t.Fatalf("expected %d lines, got %d", len(lines), len(got))
	}
	for i, want := range lines {
		line, step := got[i], ""
		if want.Step != "" {
			step = replay.HashID(want.Step)
		}
		fields := len(want.Fields)+len(line.Fields) == 0 || reflect.DeepEqual(want.Fields, line.Fields)
		if line.Level != want.Level || line.Step != step || !fields || !isMessage(want.Message, line.Message) {
			t.Errorf("line %d: expected %+v, got %+v", i, want, line)
		}
		if line.At < begin || line.At > time.Now().UnixMilli() {
			t.Errorf("line %d: got the time %d", i, line.At)
		}
	}
}

// isMessage compares messages: a shortened one may lack a hundred characters.
func isMessage(want any, got string) bool {
	long, ok := want.(map[string]any)
	if !ok {
		return want == got
	}
	of, most := long["of"].(string), int(long["at_most"].(float64))
	text := strings.TrimSuffix(got, "…")
	return len(got) <= most && len(text) >= most-100 && text == strings.Repeat(of, len(text))
}
