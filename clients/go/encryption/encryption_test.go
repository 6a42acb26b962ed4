package encryption_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/encryption"
	"github.com/tidegate/tidegate/clients/go/step"
	"github.com/tidegate/tidegate/clients/go/tidegatetest"
)

const key = "0123456789abcdef0123456789abcdef"

type secret struct {
	Encrypted string `json:"encrypted"`
}

func TestATestOfAFunctionSeesWhatTheFunctionSees(t *testing.T) {
	for name, options := range map[string]encryption.Opts{"as it is": {}, "version 2": {Version: 2}, "strict": {Strict: true}} {
		t.Run(name, func(t *testing.T) {
			options.Key = key
			fn := define(t, options, func(ctx context.Context, in tidegate.Input[secret]) (any, error) {
				card, err := step.Run(ctx, "card", func(context.Context) (string, error) { return in.Event.Data.Encrypted, nil })
				if err != nil {
					return nil, err
				}
				if _, err := step.SendEvent(ctx, "tell", tidegate.GenericEvent[secret]{Name: "order/told", Data: secret{card}}); err != nil {
					return nil, err
				}
				answer, err := step.WaitForEvent[secret](ctx, "wait", step.WaitForEventOpts{Event: "order/answered", Timeout: time.Hour})
				if err != nil {
					return nil, err
				}
				lead, err := step.Invoke[int](ctx, "lead", step.InvokeOpts{FunctionID: "crm-enrich"})
				if err != nil {
					return nil, err
				}
				response, err := step.Fetch(ctx, "fetch", step.FetchOpts{URL: "https://example.com"})
				return []any{card, answer.Data.Encrypted, lead, response.Status}, err
			})
			result := tidegatetest.Run(t, fn, tidegatetest.Opts{
				Event: tidegate.GenericEvent[secret]{Data: secret{"4242"}},
				Steps: map[string]any{"wait": tidegate.GenericEvent[secret]{Data: secret{"yes"}}, "lead": 7, "fetch": step.Response{Status: 204}},
			})
			if result.Err != nil || string(result.Output) != `["4242","yes",7,204]` {
				t.Errorf("got %s, %v", result.Output, result.Err)
			}
			if data := result.Sent[0].Data; data["encrypted"] != "4242" {
				t.Errorf("got %v", data)
			}
		})
	}
}

func TestOptionsThatCannotBe(t *testing.T) {
	for words, options := range map[string]encryption.Opts{
		"Version must be 1 or 2, got 3": {Version: 3},
		"so it cannot write it":         {Version: 1, Strict: true},
	} {
		options.Key = key
		if _, err := encryption.New(options); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("expected %q, got %v", words, err)
		}
	}
}

func TestVersion2NeedsThePlace(t *testing.T) {
	middleware, err := encryption.New(encryption.Opts{Key: key, Version: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := middleware.Encode(t.Context(), json.RawMessage("1"), tidegate.AtStep); err == nil || !strings.Contains(err.Error(), "places") {
		t.Errorf("got %v", err)
	}
}

func define(t *testing.T, options encryption.Opts, handler tidegate.Handler[secret]) tidegate.ServableFunction {
	t.Helper()
	middleware, err := encryption.New(options)
	if err != nil {
		t.Fatal(err)
	}
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true), Middleware: []tidegate.Middleware{middleware}})
	if err != nil {
		t.Fatal(err)
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), handler)
	if err != nil {
		t.Fatal(err)
	}
	return fn
}
