package tidegate_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/encryption"
	"github.com/tidegate/tidegate/clients/go/internal/place"
	"github.com/tidegate/tidegate/clients/go/step"
)

const card = "4242 4242"

type payment struct {
	Total     int    `json:"total"`
	Encrypted string `json:"encrypted"`
}

func TestARealServiceStoresOnlyEncryptedValues(t *testing.T) {
	t.Run("in version 1", func(t *testing.T) { storesOnlyEncryptedValues(t, encryption.Opts{}) })
	t.Run("strictly", func(t *testing.T) { storesOnlyEncryptedValues(t, encryption.Opts{Strict: true}) })
}

func storesOnlyEncryptedValues(t *testing.T, options encryption.Opts) {
	t.Helper()
	options.Key = "a key of the tests with 32 characters or more"
	each(t, func(t *testing.T, s realService) {
		secret, err := encryption.New(options)
		if err != nil {
			t.Fatal(err)
		}
		s = s.with(t, secret)
		failures := make(chan string, 1)
		on := func(name string) tidegate.Trigger {
			return tidegate.EventTrigger(s.named(name), tidegate.If("event.data.total > 1"))
		}
		double := mustDefine(t, s.client, tidegate.FunctionOpts{ID: "double"}, on("double"), func(_ context.Context, in tidegate.Input[payment]) (any, error) {
			return in.Event.Data.Encrypted + " twice", nil
		})
		pay := mustDefine(t, s.client, tidegate.FunctionOpts{
			ID: "pay",
			OnFailure: func(_ context.Context, in tidegate.FailureInput) (any, error) {
				failures <- string(in.Input.Event.Data.Event.Data)
				return nil, nil
			},
		}, on("pay"), func(ctx context.Context, in tidegate.Input[payment]) (any, error) {
			if in.Event.Data.Total == 13 {
				return nil, tidegate.NonRetriable(errors.New("unlucky"))
			}
			read, err := step.Run(ctx, "read", func(context.Context) (string, error) { return in.Event.Data.Encrypted, nil })
			if err != nil {
				return nil, err
			}
			both, err := step.All(ctx,
				func(ctx context.Context) (string, error) {
					return step.Invoke[string](ctx, "double", step.InvokeOpts{Function: double, Data: payment{Total: 2, Encrypted: read}})
				},
				func(ctx context.Context) (string, error) {
					event, err := step.WaitForEvent[payment](ctx, "confirmed", step.WaitForEventOpts{Event: s.named("confirmed"), Timeout: time.Minute})
					return event.Data.Encrypted, err
				},
				func(ctx context.Context) (string, error) {
					return step.SendEvent(ctx, "confirm", tidegate.GenericEvent[payment]{Name: s.named("confirmed"), Data: payment{Encrypted: read + " confirmed"}})
				})
			if err != nil {
				return nil, err
			}
			return both[:2], nil
		})
		s.host(t, double, pay)

		send := func(total int) (string, runState) {
			id, err := s.client.Send(t.Context(), tidegate.GenericEvent[payment]{Name: s.named("pay"), Data: payment{total, card}})
			if err != nil {
				t.Fatal(err)
			}
			return id, s.ended(t, id)
		}
		id, paid := send(3)
		where := place.With(t.Context(), place.Output(s.app+"-pay", paid.RunID, nil))
		output, err := secret.Decode(where, paid.Output, tidegate.AtOutput)
		if err != nil || paid.Status != "Completed" || string(output) != `["4242 4242 twice","4242 4242 confirmed"]` {
			t.Errorf("got %+v %s %v", paid, output, err)
		}
		for _, stored := range [][]byte{paid.Output, s.told(t, "/v1/events/"+id), s.told(t, "/v1/runs/"+paid.RunID)} {
			if bytes.Contains(stored, []byte(card)) || !bytes.Contains(stored, []byte("tidegate/aes-256-gcm")) {
				t.Errorf("the service stores %s", stored)
			}
		}
		if _, failed := send(13); failed.Status != "Failed" {
			t.Errorf("got %+v", failed)
		}
		select {
		case data := <-failures:
			if data != `{"encrypted":"4242 4242","total":13}` {
				t.Errorf("got %s", data)
			}
		case <-time.After(20 * time.Second):
			t.Error("the failure handler was not called")
		}
	})
}

// with is the same service for a client with middleware.
func (s realService) with(t *testing.T, middleware ...tidegate.Middleware) realService {
	t.Helper()
	options := tidegate.ClientOpts{AppID: s.app, BaseURL: s.url, Middleware: middleware, Dev: tidegate.Ptr(s.url == os.Getenv("TEST_DEV_SERVICE"))}
	if !*options.Dev {
		options.EventKey, options.SigningKey = os.Getenv("TEST_EVENT_KEY"), os.Getenv("TEST_SIGNING_KEY")
	}
	s.client = newClient(t, options)
	return s
}

// told is what the REST API answers.
func (s realService) told(t *testing.T, path string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("authorization", "Bearer "+os.Getenv("TEST_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("got %d %s %v", response.StatusCode, body, err)
	}
	return body
}

func mustDefine[Data any](
	t *testing.T, client *tidegate.Client, options tidegate.FunctionOpts, on tidegate.Trigger, handler tidegate.Handler[Data],
) tidegate.ServableFunction {
	t.Helper()
	fn, err := tidegate.CreateFunction(client, options, on, handler)
	if err != nil {
		t.Fatal(err)
	}
	return fn
}
