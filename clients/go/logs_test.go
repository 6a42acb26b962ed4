package tidegate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

type loggedLine struct {
	At                   int64
	Level, Message, Step string
	Fields               map[string]any
}

type loggedBatch struct {
	Batch   string
	Attempt int
	Dropped int
	Lines   []loggedLine
}

const (
	logsCtx = `,"logs":true`
	hashOfA = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"
)

// logService has the bodies that it gets, in order.
type logService struct {
	*httptest.Server
	bodies chan string
}

func newLogService(t *testing.T, statuses ...int) logService {
	t.Helper()
	bodies := make(chan string, 10)
	count := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v0/runs/01RUN/logs" {
			t.Errorf("got %s %s, %v", r.Method, r.URL, err)
		}
		if count < len(statuses) {
			w.WriteHeader(statuses[count])
		}
		count++
		bodies <- string(body)
	}))
	t.Cleanup(server.Close)
	return logService{server, bodies}
}

func (s logService) next(t *testing.T) string {
	t.Helper()
	select {
	case body := <-s.bodies:
		return body
	case <-time.After(20 * time.Second):
		t.Fatal("no lines came")
		return ""
	}
}

func (s logService) batch(t *testing.T) (batch loggedBatch) {
	t.Helper()
	if body := s.next(t); json.Unmarshal([]byte(body), &batch) != nil {
		t.Fatalf("got %s", body)
	}
	return batch
}

func callLogging(t *testing.T, url, ctx, query string, options tidegate.ClientOpts, handler func(context.Context, *slog.Logger) error) tidegate.AppAnswer {
	t.Helper()
	options.AppID, options.Dev, options.BaseURL = "shop", tidegate.Ptr(true), url
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	client := newClient(t, options)
	run := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		return "done", handler(ctx, in.Logger)
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), run)
	if err != nil {
		t.Fatal(err)
	}
	app := newApp(t, client, tidegate.ServeOpts{}, fn)
	body := `{"event":{"name":"order/paid","data":{}},"steps":{},"ctx":{"run_id":"01RUN","attempt":2,"stack":{"stack":[]}` + ctx + `}}`
	return app.Answer(t.Context(), tidegate.AppRequest{Method: http.MethodPost, URL: "/?fnId=shop-fn" + query, Body: body})
}

func TestLogsHaveLevelFieldsStepAndAttempt(t *testing.T) {
	s := newLogService(t)
	before := time.Now().UnixMilli()
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{}, func(ctx context.Context, logger *slog.Logger) error {
		logger.With("app", 1).WithGroup("order").Info("start", "total", 3, slog.Group("card", "id", "A1"), "err", errors.New("odd"))
		_, err := step.Run(ctx, "a", func(context.Context) (any, error) {
			logger.Warn("slow", "took", time.Second)
			logger.Debug("left out: the app does not keep it")
			return nil, nil
		})
		return err
	})
	batch := s.batch(t)
	if batch.Attempt != 2 || batch.Dropped != 0 || len(batch.Batch) != 32 || len(batch.Lines) != 2 {
		t.Fatalf("got %+v", batch)
	}
	if at := batch.Lines[0].At; at < before || at > time.Now().UnixMilli() {
		t.Errorf("got the time %d", at)
	}
	fields := `map[app:1 order:map[card:map[id:A1] err:map[message:odd name:Error] total:3]]`
	if first := batch.Lines[0]; first.Level != "info" || first.Message != "start" || first.Step != "" || fmt.Sprint(first.Fields) != fields {
		t.Errorf("got %+v", first)
	}
	if second := batch.Lines[1]; second.Level != "warn" || second.Step != hashOfA || second.Fields["took"] != "1s" {
		t.Errorf("got %+v", second)
	}
}

func TestLogsAreNotRepeatedByTheCallOfAPlannedStep(t *testing.T) {
	s := newLogService(t)
	callLogging(t, s.URL, logsCtx, "&stepId="+hashOfA, tidegate.ClientOpts{}, func(ctx context.Context, logger *slog.Logger) error {
		logger.Info("before")
		_, err := step.Run(ctx, "a", func(context.Context) (any, error) { logger.Info("in a"); return nil, nil })
		return err
	})
	if batch := s.batch(t); len(batch.Lines) != 1 || batch.Lines[0].Message != "in a" {
		t.Errorf("got %+v", batch)
	}
}

type hostileValue struct{}

func (hostileValue) LogValue() slog.Value { panic("no") }

// circularValue cannot be written as JSON.
func circularValue() map[string]any {
	circular := map[string]any{}
	circular["self"] = circular
	return circular
}

func TestLogsHaveLimits(t *testing.T) {
	s := newLogService(t)
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{}, func(_ context.Context, logger *slog.Logger) error {
		for i := range 500 {
			logger.Info(fmt.Sprint("line ", i))
		}
		return nil
	})
	if batch := s.batch(t); len(batch.Lines) != 200 || batch.Dropped != 300 {
		t.Errorf("got %d lines, and %d were dropped", len(batch.Lines), batch.Dropped)
	}
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{}, func(_ context.Context, logger *slog.Logger) error {
		logger.Info("panics", "hostile", hostileValue{}, "circular", circularValue())
		logger.Info(strings.Repeat("x", 1_000_000), "y", strings.Repeat("y", 1_000_000))
		for range 50 {
			logger.Info(strings.Repeat("z", 7_000))
		}
		return nil
	})
	batch := s.batch(t)
	if len(batch.Lines[1].Message) != 8_000 || len(batch.Lines)+batch.Dropped != 52 || len(batch.Lines) > 9 {
		t.Errorf("got %d lines, and %d were dropped", len(batch.Lines), batch.Dropped)
	}
}

func TestLogsAreSentOnlyWhereTheyAreWanted(t *testing.T) {
	s := newLogService(t)
	secret := []tidegate.Middleware{{Name: "secret", Encode: func(_ context.Context, value json.RawMessage, _ tidegate.At) (json.RawMessage, error) {
		return value, nil
	}}}
	say := func(text string) func(context.Context, *slog.Logger) error {
		return func(_ context.Context, logger *slog.Logger) error { logger.Info(text); return nil }
	}
	callLogging(t, s.URL, "", "", tidegate.ClientOpts{}, say("the service takes none"))
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{Logs: tidegate.Ptr(false)}, say("the app sends none"))
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{Middleware: secret}, say("the values are secret"))
	t.Setenv("SERVICE_LOGS", "0")
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{}, say("the environment says no"))
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{Logs: tidegate.Ptr(true), Middleware: secret}, say("told"))
	if batch := s.batch(t); batch.Lines[0].Message != "told" {
		t.Errorf("got %+v", batch)
	}
}

func TestLogsDoNotKeepTheResponse(t *testing.T) {
	say := func(_ context.Context, logger *slog.Logger) error { logger.Info("x"); return nil }
	if a := callLogging(t, "http://127.0.0.1:1", logsCtx, "", tidegate.ClientOpts{}, say); a.Status != 200 || string(a.Body) != `"done"` {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	s := newLogService(t, 503)
	callLogging(t, s.URL, logsCtx, "", tidegate.ClientOpts{}, say)
	if first, second := s.next(t), s.next(t); first != second {
		t.Errorf("the second try has %s, the first had %s", second, first)
	}
}
