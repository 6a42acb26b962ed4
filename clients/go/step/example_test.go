package step_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// In a function: both steps are done side by side, each in a call of its own.
func ExampleAll() {
	handler := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		return step.All(ctx,
			func(ctx context.Context) (string, error) {
				return step.Run(ctx, "invoice", func(context.Context) (string, error) { return "invoice 7", nil })
			},
			func(ctx context.Context) (string, error) {
				return step.Run(ctx, "label", func(context.Context) (string, error) { return "label 7", nil })
			})
	}
	fmt.Println(firstAnswer(handler))
	// Output: 206 planned: invoice, label
}

// A time-out is an error that a function may want to act on.
func ExampleWaitForEvent() {
	handler := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		returned, err := step.WaitForEvent[map[string]any](ctx, "return", step.WaitForEventOpts{
			Event:   "order/returned",
			Timeout: 14 * 24 * time.Hour,
			If:      "event.data.orderId == async.data.orderId",
		})
		if errors.Is(err, step.ErrEventNotReceived) {
			return "kept", nil
		}
		return returned.Data["reason"], err
	}
	fmt.Println(firstAnswer(handler))
	// Output: 206 waits: return
}

// A person approves an order, by a link that leads to client.SendSignal(ctx, "approval/7", …).
func ExampleWaitForSignal() {
	handler := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		type approval struct {
			By string `json:"by"`
		}
		given, err := step.WaitForSignal[approval](ctx, "approval", step.WaitForSignalOpts{Signal: "approval/7", Timeout: 24 * time.Hour})
		if errors.Is(err, step.ErrSignalNotReceived) {
			return "nobody has approved it", nil
		}
		return given.By, err
	}
	fmt.Println(firstAnswer(handler))
	// Output: 206 waits: approval
}

// The service makes the request: the app does not wait for the response.
func ExampleFetch() {
	handler := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		response, err := step.Fetch(ctx, "rates", step.FetchOpts{URL: "https://api.example.com/rates"})
		if err != nil {
			return nil, err
		}
		var rates map[string]float64
		err = response.JSON(&rates)
		return rates["EUR"], err
	}
	fmt.Println(firstAnswer(handler))
	// Output: 206 requests: rates
}

// The service asks the model, and tries again while the provider is busy.
func ExampleInfer() {
	handler := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		type completion struct {
			Choices []struct {
				Message struct {
					Content string `json:"content"`
				} `json:"message"`
			} `json:"choices"`
		}
		answer, err := step.Infer[completion](ctx, "summary", step.InferOpts{
			URL:     "https://api.openai.com/v1/chat/completions",
			Format:  "openai-chat",
			AuthKey: os.Getenv("OPENAI_API_KEY"),
			Body: map[string]any{
				"model":    "gpt-4o",
				"messages": []map[string]string{{"role": "user", "content": "Sum up order 7"}},
			},
		})
		if err != nil || len(answer.Choices) == 0 {
			return nil, err
		}
		return answer.Choices[0].Message.Content, nil
	}
	fmt.Println(firstAnswer(handler))
	// Output: 206 requests: summary
}

// Whatever is there first: the response of a supplier, or the end of an hour.
func ExampleRace() {
	handler := func(ctx context.Context, in tidegate.Input[map[string]any]) (any, error) {
		return step.Race(ctx,
			func(ctx context.Context) (string, error) {
				return step.Run(ctx, "ask the supplier", func(context.Context) (string, error) { return "in stock", nil })
			},
			func(ctx context.Context) (string, error) { return "unknown", step.Sleep(ctx, "an hour", time.Hour) })
	}
	fmt.Println(firstAnswer(handler))
	// Output: 206 planned: ask the supplier, an hour
}

// firstAnswer of a function to the service.
func firstAnswer(handler tidegate.Handler[map[string]any]) string {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true)})
	if err != nil {
		return err.Error()
	}
	fn, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "fn"}, tidegate.EventTrigger("order/paid"), handler)
	if err != nil {
		return err.Error()
	}
	app, err := tidegate.Serve(client, tidegate.ServeOpts{}, fn)
	if err != nil {
		return err.Error()
	}
	a := app.Answer(context.Background(), tidegate.AppRequest{Method: http.MethodPost, URL: "/?fnId=shop-fn", Body: called{}.body()})
	return fmt.Sprint(a.Status, " ", describeOps(a.Body))
}
