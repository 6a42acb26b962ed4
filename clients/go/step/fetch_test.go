package step_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

func TestFetch(t *testing.T) {
	fetch := func(body any) handler {
		return func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
			r, err := step.Fetch(ctx, "f", step.FetchOpts{
				URL: "https://api.example.com/things", Method: "POST", Headers: map[string]string{"x-own": "1"}, Body: body,
			})
			var failed *tidegate.StepError
			if errors.As(err, &failed) {
				return failed.Name, nil
			}
			var parsed struct{ N int }
			if r.Body == nil {
				return fmt.Sprint(r.Status, r.Headers, r.URL), err
			}
			err = r.JSON(&parsed)
			return fmt.Sprint(r.Status, " ", parsed), err
		}
	}
	for want, body := range map[string]any{"text": []byte("text"), "as it is": "as it is", "map[n:1]": map[string]int{"n": 1}} {
		t.Run("reports the request, with a body of "+want, func(t *testing.T) {
			a := call(t, fetch(body), called{})
			expect(t, "ops", a.opNames(), "Gateway f; ")
			opts := "map[body:" + want + " headers:map[x-own:1] method:POST url:https://api.example.com/things]"
			expect(t, "opts", fmt.Sprint(a.ops[0].Opts), opts)
		})
	}
	for memo, output := range map[string]string{
		`{"data":{"status_code":404,"headers":{},"body":"{\"n\":7}","url":"u"}}`: `"404 {7}"`,
		`{"data":{"status_code":204,"headers":{"A":"b"},"body":null,"url":"u"}}`: `"204 map[A:b]u"`,
		`{"error":{"name":"RequestError","message":"refused"}}`:                  `"RequestError"`,
	} {
		t.Run("returns the response: "+memo, func(t *testing.T) {
			expect(t, "output", call(t, fetch(nil), called{steps: map[string]string{"f": memo}}).body, output)
		})
	}
	t.Run("says which step has data that is no JSON", func(t *testing.T) {
		a := call(t, fetch(make(chan int)), called{})
		if !strings.HasPrefix(a.failure.Message, `the data of step "f" cannot be written as JSON`) {
			t.Errorf("got %s", a.body)
		}
	})
}

func TestInfer(t *testing.T) {
	infer := func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		type answer struct{ Choices []string }
		got, err := step.Infer[answer](ctx, "m", step.InferOpts{
			URL: "https://api.example.com/chat", Format: "openai-chat", AuthKey: "sk-1", Body: map[string]string{"model": "m"},
		})
		return got.Choices, err
	}
	a := call(t, infer, called{})
	expect(t, "ops", a.opNames(), "AIGateway m; ")
	opts := "map[auth_key:sk-1 body:map[model:m] format:openai-chat type:step.ai.infer url:https://api.example.com/chat]"
	expect(t, "opts", fmt.Sprint(a.ops[0].Opts), opts)
	expect(t, "output", call(t, infer, called{steps: map[string]string{"m": `{"data":{"choices":["hi"]}}`}}).body, `["hi"]`)
}
