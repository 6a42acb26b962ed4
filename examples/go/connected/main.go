package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/connect"
	"github.com/tidegate/tidegate/clients/go/step"
)

type Order struct {
	OrderID string `json:"orderId"`
}

func sendReceipt(ctx context.Context, in tidegate.Input[Order]) (any, error) {
	return step.Run(ctx, "write receipt", func(context.Context) (string, error) {
		return "Receipt for order " + in.Event.Data.OrderID, nil
	})
}

func main() {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	paid := tidegate.EventTrigger("order/paid")
	receipts, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{ID: "send-receipt"}, paid, sendReceipt)
	if err != nil {
		log.Fatal(err)
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	connection, err := connect.Open(stop, client, connect.Opts{}, receipts)
	if err != nil {
		log.Fatal(err)
	}
	<-stop.Done()
	if err := connection.Close(context.Background()); err != nil { // finishes its calls
		log.Fatal(err)
	}
}
