package step_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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
