package tidegate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

// playedService accepts one event.
func playedService() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"ids":["01JDCZ2K8M4T5V6W7X8Y9Z0A1B"],"status":200}`)
	}))
}

func ExampleClient_Send() {
	service := playedService()
	defer service.Close()
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", BaseURL: service.URL, EventKey: "key"})
	if err != nil {
		fmt.Println(err)
		return
	}
	id, err := client.Send(context.Background(), tidegate.Event{
		Name: "order/paid",
		Data: map[string]any{"orderId": "7", "total": 120},
	})
	var failed *tidegate.SendError
	if errors.As(err, &failed) {
		fmt.Println("send again under the seed", failed.Seed)
	}
	fmt.Println(id, err)
	// Output: 01JDCZ2K8M4T5V6W7X8Y9Z0A1B <nil>
}

func ExampleServe() {
	type orderPaid struct {
		OrderID string `json:"orderId"`
	}
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", Dev: tidegate.Ptr(true)})
	if err != nil {
		fmt.Println(err)
		return
	}
	thank, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "thank", Retries: tidegate.Ptr(2)},
		tidegate.Triggers(tidegate.EventTrigger("order/paid", tidegate.If("event.data.total > 10")), tidegate.CronTrigger("0 9 * * 1")),
		func(ctx context.Context, in tidegate.Input[orderPaid]) (any, error) {
			return step.Run(ctx, "send receipt", func(context.Context) (string, error) {
				return "receipt of " + in.Event.Data.OrderID, nil
			})
		})
	if err != nil {
		fmt.Println(err)
		return
	}
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: "/api/service"}, thank)
	if err != nil {
		fmt.Println(err)
		return
	}
	// An app would http.ListenAndServe(":3000", handler).
	server := httptest.NewServer(handler)
	defer server.Close()
	response, err := http.Get(server.URL + "/api/service")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fmt.Println(string(body), err)
	// Output: {"framework":"net/http","function_count":1,"mode":"dev"} <nil>
}

// In a handler of a chat's page: who may read the thread gets a token to follow it.
func ExampleClient_SubscriptionToken() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"jwt":"a-token"}`)
	}))
	defer service.Close()
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop", BaseURL: service.URL, Dev: tidegate.Ptr(true)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(client.SubscriptionToken(context.Background(), "thread:7", "status"))
	// Output: a-token <nil>
}

// A code and data travel with the error, and so does what it wraps.
func ExampleDetailed() {
	err := tidegate.Detailed(errors.New("card refused"), "E_CARD", map[string]int{"missing": 5})
	var detailed *tidegate.DetailedError
	if errors.As(fmt.Errorf("order 7: %w", err), &detailed) {
		fmt.Println(detailed, detailed.Code, detailed.Data)
	}
	// Output: card refused E_CARD map[missing:5]
}
