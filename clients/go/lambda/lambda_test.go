package lambda_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/signature"
	"github.com/tidegate/tidegate/clients/go/lambda"
)

const (
	signingKey = "signkey-test-0123456789abcdef"
	body       = `{"event":{"name":"order/paid","data":{"customer":"Ада"},"id":"01E","ts":1},"ctx":{"run_id":"01R"}}`
)

// newHandler hosts one function, at a path below a stage, in production mode.
func newHandler(t *testing.T) func(context.Context, lambda.Event) (lambda.Response, error) {
	t.Helper()
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(false), SigningKey: signingKey})
	if err != nil {
		t.Fatal(err)
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "thank"}, tidegate.EventTrigger("order/paid"),
		func(_ context.Context, in tidegate.Input[map[string]any]) (any, error) {
			return in.Event.Data["customer"], nil
		})
	if err != nil {
		t.Fatal(err)
	}
	app, err := tidegate.Serve(client, tidegate.ServeOpts{Path: "/prod/api/service", Framework: "aws-lambda"}, fn)
	if err != nil {
		t.Fatal(err)
	}
	return lambda.Handler(app)
}

// read is an event as the AWS library reads it.
func read(t *testing.T, fields map[string]any) lambda.Event {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var event lambda.Event
	if err := json.Unmarshal(text, &event); err != nil {
		t.Fatal(err)
	}
	return event
}

func signed() map[string]string {
	now := time.Now()
	target := signature.Target{FunctionID: "shop-thank", StepID: "step"}
	return map[string]string{
		"x-service-signature":     signature.Sign([]byte(body), signingKey, now),
		"x-service-signature-url": signature.SignURL(target, []byte(body), signingKey, now),
	}
}

func TestACallIsAnsweredInEachFormat(t *testing.T) {
	multi := map[string][]string{}
	for name, value := range signed() {
		multi[name] = []string{value}
	}
	for name, fields := range map[string]map[string]any{
		"format 1.0, of a REST API": {
			"httpMethod": "POST", "path": "/api/service", "headers": signed(), "multiValueHeaders": multi, "body": body,
			"queryStringParameters":           map[string]string{"fnId": "shop-thank", "stepId": "step"},
			"multiValueQueryStringParameters": map[string][]string{"fnId": {"shop-thank"}, "stepId": {"step"}},
			"requestContext":                  map[string]any{"path": "/prod/api/service", "stage": "prod"},
		},
		"format 1.0, without lists": {
			"httpMethod": "POST", "path": "/prod/api/service", "headers": signed(), "body": body,
			"queryStringParameters": map[string]string{"fnId": "shop-thank", "stepId": "step"},
		},
		"format 2.0, of an HTTP API": {
			"version": "2.0", "rawPath": "/prod/api/service", "rawQueryString": "fnId=shop-thank&stepId=step", "headers": signed(), "body": body,
			"requestContext": map[string]any{"http": map[string]any{"method": "POST"}},
		},
		"format 2.0, of a function URL, in base64": {
			"version": "2.0", "rawPath": "/prod/api/service", "rawQueryString": "fnId=shop-thank&stepId=step", "headers": signed(),
			"body": base64.StdEncoding.EncodeToString([]byte(body)), "isBase64Encoded": true,
			"requestContext": map[string]any{"http": map[string]any{"method": "POST"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := newHandler(t)(t.Context(), read(t, fields))
			if err != nil || got.StatusCode != 200 || got.Body != `"Ада"` || got.IsBase64Encoded {
				t.Errorf("got %+v, %v", got, err)
			}
			if got.Headers["Content-Type"] != "application/json" || got.Headers["X-Service-Framework"] != "aws-lambda" {
				t.Errorf("got %v", got.Headers)
			}
		})
	}
}

func TestOtherRequests(t *testing.T) {
	request := func(method, path string) map[string]any {
		return map[string]any{"rawPath": path, "requestContext": map[string]any{"http": map[string]any{"method": method}}}
	}
	for _, c := range []struct {
		fields map[string]any
		status int
		words  string
	}{
		{request("GET", "/prod/api/service"), 200, `"function_count":1`},
		{request("GET", "/elsewhere"), 404, "nothing at this path"},
		{request("POST", "/prod/api/service"), 401, "not signed"},
		{request("DELETE", "/prod/api/service"), 405, "Only GET, PUT and POST"},
	} {
		got, err := newHandler(t)(t.Context(), read(t, c.fields))
		if err != nil || got.StatusCode != c.status || !strings.Contains(got.Body, c.words) {
			t.Errorf("expected %d and %q, got %+v, %v", c.status, c.words, got, err)
		}
	}
}

func TestAnEventThatIsNoRequestIsRefused(t *testing.T) {
	for words, fields := range map[string]map[string]any{
		"no method": {"Records": []any{}},
		"not base64": {
			"body": "???", "isBase64Encoded": true,
			"requestContext": map[string]any{"http": map[string]any{"method": "POST"}},
		},
	} {
		if _, err := newHandler(t)(t.Context(), read(t, fields)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("expected %q, got %v", words, err)
		}
	}
}
