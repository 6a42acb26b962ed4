package step_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// The payment service charges once for each key, however often the step is tried.
func ExampleIdempotencyKey() {
	handler := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		return step.Run(ctx, "charge", func(ctx context.Context) (string, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://payments.example.com/charges", strings.NewReader("amount=700"))
			if err != nil {
				return "", err
			}
			request.Header.Set("Idempotency-Key", step.IdempotencyKey(ctx))
			fmt.Println(request.Header) // then http.DefaultClient.Do(request)
			return "charged", nil
		})
	}
	firstAnswer(handler)
	// Output: map[Idempotency-Key:[01HZZZZZZZZZZZZZZZZZZZZZZZ-5ea9c348e59fe73a4b15cb287e33e4546dcef782]]
}

func TestAStepHasTheSameIdempotencyKeyInEachAttemptAndNoOtherStepHasIt(t *testing.T) {
	var keys []string
	twice := func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		for range 2 {
			_, err := step.Run(ctx, "charge", func(ctx context.Context) (any, error) {
				keys = append(keys, step.IdempotencyKey(ctx))
				return nil, errors.New("lost")
			})
			if err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	call(t, twice, called{})
	call(t, twice, called{planned: true, stepID: "charge"})
	call(t, twice, called{steps: map[string]string{"charge": `{"data":null}`}, order: []string{"charge"}})
	if len(keys) != 3 || keys[0] != keys[1] || keys[0] == keys[2] || len(keys[0]) != 67 {
		t.Errorf("got %q", keys)
	}
}

func TestTheIdempotencyKeyOutsideOfAStepFailsTheRunForGood(t *testing.T) {
	got := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
		return step.IdempotencyKey(ctx), nil
	}, called{})
	expect(t, "retries", got.noRetry, "true")
	if !strings.Contains(got.failure.Message, "outside of a step") {
		t.Errorf("got %q", got.failure.Message)
	}
}
