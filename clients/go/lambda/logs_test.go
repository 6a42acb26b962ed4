package lambda_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/clock"
	"github.com/tidegate/tidegate/clients/go/lambda"
)

// patientClock sleeps until it need not: the response waits for a second at most, which a busy machine may take for nothing.
type patientClock struct{ clock.Clock }

func (patientClock) Sleep(ctx context.Context, _ time.Duration) { <-ctx.Done() }

func TestWhatIsLoggedHasArrivedWhenTheHandlerReturns(t *testing.T) {
	t.Setenv("AWS_LAMBDA_FUNCTION_NAME", "fn")
	arrived := make(chan string, 10)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		arrived <- string(text)
	}))
	defer service.Close()
	client, err := tidegate.NewClient(tidegate.ClientOpts{
		AppID: "shop", Dev: tidegate.Ptr(true), BaseURL: service.URL, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("a"),
		func(_ context.Context, in tidegate.Input[any]) (any, error) {
			in.Logger.Info("one")
			return "done", nil
		})
	if err != nil {
		t.Fatal(err)
	}
	app, err := tidegate.Serve(client, tidegate.ServeOpts{Framework: "aws-lambda"}, fn)
	if err != nil {
		t.Fatal(err)
	}
	event := read(t, map[string]any{
		"rawPath": "/", "rawQueryString": "fnId=shop-fn&stepId=step",
		"requestContext": map[string]any{"http": map[string]string{"method": "POST"}},
		"body":           `{"event":{"name":"a","data":{}},"ctx":{"run_id":"01R","logs":true}}`,
	})
	ctx := clock.With(t.Context(), patientClock{clock.Of(t.Context())})
	response, err := lambda.Handler(app)(ctx, event)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %+v, %v", response, err)
	}
	// From here on nothing of the app runs.
	select {
	case batch := <-arrived:
		if !strings.Contains(batch, `"message":"one"`) {
			t.Errorf("got %s", batch)
		}
	default:
		t.Error("nothing had arrived")
	}
}
