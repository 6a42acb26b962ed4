package tidegate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/canonical"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
	"github.com/tidegate/tidegate/clients/go/step"
)

const (
	signingKey = "signkey-test-0123456789abcdef"
	otherKey   = "signkey-test-fedcba9876543210"
)

func newFunction(t *testing.T, client *tidegate.Client, id string, handler tidegate.Handler[map[string]any]) tidegate.ServableFunction {
	t.Helper()
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: id}, tidegate.EventTrigger("order/paid"), handler)
	if err != nil {
		t.Fatal(err)
	}
	return fn
}

func newApp(t *testing.T, client *tidegate.Client, options tidegate.ServeOpts, functions ...tidegate.ServableFunction) *tidegate.AppHandler {
	t.Helper()
	app, err := tidegate.Serve(client, options, functions...)
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func echo(_ context.Context, in tidegate.Input[map[string]any]) (any, error) {
	return map[string]any{"data": in.Event.Data, "events": len(in.Events), "run": in.RunID}, nil
}

const callBody = `{"event":{"name":"order/paid","data":{"ü":"<&>","n":1.0},"id":"01E","ts":1},"ctx":{"run_id":"01R"}}`

func TestHostsThatHaveParsedTheBody(t *testing.T) {
	dev := false
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: &dev, SigningKey: signingKey, SigningKeyFallback: otherKey})
	app := newApp(t, client, tidegate.ServeOpts{Framework: "lambda"}, newFunction(t, client, "fn", echo))
	var parsed any
	if err := json.Unmarshal([]byte(callBody), &parsed); err != nil {
		t.Fatal(err)
	}
	signed, err := canonical.Marshal(parsed)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(body any, key string) tidegate.AppAnswer {
		header := http.Header{}
		setSignatures(header, signed, key)
		return app.Answer(t.Context(), tidegate.AppRequest{Method: "POST", URL: "/?fnId=shop-fn", Header: header, Body: body})
	}
	for name, body := range map[string]any{"parsed": parsed, "text": string(signed), "bytes": signed} {
		for _, key := range []string{signingKey, otherKey} {
			a := ask(body, key)
			if a.Status != 200 || a.Header.Get("x-service-framework") != "lambda" {
				t.Errorf("%s: got %d %s", name, a.Status, a.Body)
			}
		}
	}
	if a := ask(parsed, "signkey-test-00"); a.Status != 401 {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	if a := ask(map[string]any{"f": func() {}}, signingKey); a.Status != 500 {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
}

func TestABodyThatIsTooLargeIsRefused(t *testing.T) {
	dev := true
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: &dev})
	server := httptest.NewServer(newApp(t, client, tidegate.ServeOpts{}, newFunction(t, client, "fn", echo)))
	defer server.Close()
	post := func(body io.Reader) (int, string) {
		response, err := http.Post(server.URL+"/?fnId=shop-fn", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	limit := 16 * 1_024 * 1_024
	if status, text := post(strings.NewReader(callBody + strings.Repeat(" ", limit-len(callBody)))); status != 200 {
		t.Errorf("got %d %s", status, text)
	}
	status, text := post(strings.NewReader(strings.Repeat(" ", limit+1)))
	if status != 413 || text != `{"name":"ServeError","message":"The body is larger than 16777216 bytes"}` {
		t.Errorf("got %d %s", status, text)
	}
}

func TestWhatDoesNotFitIntoACallIsFetched(t *testing.T) {
	dev := false
	refuse := true
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("authorization") != "Bearer "+signature.Bearer(otherKey) {
			w.WriteHeader(401)
			return
		}
		switch r.Method + r.URL.Path {
		case "GET/v0/runs/01R/batch":
			io.WriteString(w, `[{"name":"order/paid","data":{"n":1},"id":"a","ts":1},{"name":"order/paid","data":{"n":2},"id":"b","ts":2}]`)
		case "GET/v0/runs/01R/actions":
			if refuse {
				w.WriteHeader(503)
				return
			}
			io.WriteString(w, `{"86f7e437faa5a7fce15d1ddcb9eaeaea377667b8":{"data":"memo"}}`)
		default:
			t.Errorf("got %s %s", r.Method, r.URL)
		}
	}))
	defer service.Close()
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: &dev, BaseURL: service.URL, SigningKey: signingKey, SigningKeyFallback: otherKey})
	fn := newFunction(t, client, "fn", func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		memo, err := step.Run(ctx, "a", func(context.Context) (string, error) { return "run", nil })
		return fmt.Sprint(memo, " ", len(in.Events), " ", in.Event.Data["n"], " ", in.MaxAttempts), err
	})
	app := newApp(t, client, tidegate.ServeOpts{}, fn)
	for name, body := range map[string]string{
		"told beside": `{"use_api":true,"ctx":{"run_id":"01R"}}`,
		"told in ctx": `{"ctx":{"run_id":"01R","use_api":true}}`,
	} {
		for _, refuse = range []bool{true, false} {
			header := http.Header{}
			setSignatures(header, []byte(body), signingKey)
			a := app.Answer(t.Context(), tidegate.AppRequest{Method: "POST", URL: "/?fnId=shop-fn", Header: header, Body: body})
			if refuse && !strings.Contains(string(a.Body), "The state of run 01R could not be fetched: the service answered 503") {
				t.Errorf("%s: got %d %s", name, a.Status, a.Body)
			}
			if !refuse && string(a.Body) != `"memo 2 1 5"` {
				t.Errorf("%s: got %d %s", name, a.Status, a.Body)
			}
		}
	}
}

func TestFunctionsThatMakeNoSense(t *testing.T) {
	client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
	for want, create := range map[string]func() (tidegate.ServableFunction, error){
		"needs an ID": func() (tidegate.ServableFunction, error) {
			return tidegate.CreateFunction(client, tidegate.FunctionOpts{}, tidegate.CronTrigger("* * * * *"), echo)
		},
		"Retries must be from 0": func() (tidegate.ServableFunction, error) {
			return tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "a", Retries: tidegate.Ptr(-1)}, tidegate.CronTrigger("* * * * *"), echo)
		},
		"has no triggers": func() (tidegate.ServableFunction, error) {
			return tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "a"}, nil, echo)
		},
		"got neither": func() (tidegate.ServableFunction, error) {
			return tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "a"}, tidegate.EventTrigger(""), echo)
		},
	} {
		if fn, err := create(); err == nil || !strings.Contains(err.Error(), want) || fn != nil {
			t.Errorf("got %v, %v, want %q", fn, err, want)
		}
	}
	twice := newFunction(t, client, "a", echo)
	if _, err := tidegate.Serve(client, tidegate.ServeOpts{}, twice, twice); err == nil || !strings.Contains(err.Error(), `two functions of the app have the ID "a"`) {
		t.Errorf("got %v", err)
	}
	other := newClient(t, tidegate.ClientOpts{AppID: "other"})
	if _, err := tidegate.Serve(other, tidegate.ServeOpts{}, twice); err == nil || !strings.Contains(err.Error(), `is of the app "shop", not "other"`) {
		t.Errorf("got %v", err)
	}
}

func TestAPathOfItsOwn(t *testing.T) {
	dev := true
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: &dev})
	app := newApp(t, client, tidegate.ServeOpts{Path: "/api/service"}, newFunction(t, client, "fn", echo))
	for path, want := range map[string]int{"/api/service": 200, "/api/service?x=1": 200, "/api": 404, "/api/service/": 404} {
		recorder := httptest.NewRecorder()
		app.ServeHTTP(recorder, httptest.NewRequest("GET", path, nil))
		if recorder.Code != want {
			t.Errorf("%s: got %d", path, recorder.Code)
		}
	}
}

func TestAHandlerOfAnotherTypeFailsTheAttempt(t *testing.T) {
	dev := true
	client := newClient(t, tidegate.ClientOpts{AppID: "shop", Dev: &dev})
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"),
		func(context.Context, tidegate.Input[struct {
			N string `json:"n"`
		}]) (any, error) {
			return "ran", nil
		})
	if err != nil {
		t.Fatal(err)
	}
	a := newApp(t, client, tidegate.ServeOpts{}, fn).Answer(t.Context(), tidegate.AppRequest{Method: "POST", URL: "/?fnId=shop-fn", Body: []byte(callBody)})
	if a.Status != 500 || !bytes.Contains(a.Body, []byte("the event does not fit the handler's type")) {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
}

// setSignatures of a call of shop-fn, made now.
func setSignatures(header http.Header, body []byte, key string) {
	now := time.Now()
	target := signature.Target{FunctionID: "shop-fn", StepID: "step"}
	header.Set("x-service-signature", signature.Sign(body, key, now))
	header.Set("x-service-signature-url", signature.SignURL(target, body, key, now))
}
