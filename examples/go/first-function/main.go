package main

import (
	"context"
	"log"
	"net/http"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

type Order struct {
	OrderID string `json:"orderId"`
}

func sendReceipt(ctx context.Context, in tidegate.Input[Order]) (any, error) {
	receipt, err := step.Run(ctx, "write receipt", func(context.Context) (string, error) {
		return "Receipt for order " + in.Event.Data.OrderID, nil
	})
	if err != nil {
		return nil, err
	}
	if err := step.Sleep(ctx, "let it dry", time.Second); err != nil {
		return nil, err
	}
	return map[string]string{"sent": receipt}, nil
}

func main() {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	paid := tidegate.EventTrigger("order/paid", tidegate.If("event.data.total > 10"))
	receipts, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "send-receipt"}, paid, sendReceipt)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: "/api/service"}, receipts)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", handler))
}
