package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

type parcel struct {
	Number string `json:"number"`
	Pieces int    `json:"pieces"`
}

// fulfilOrder lives as long as the order does: what it waits for may come in a second or in three days, and deploys do
// not matter.
func fulfilOrder(ctx context.Context, in tidegate.Input[Placed]) (any, error) {
	order := in.Event.Data
	_, err := step.WaitForEvent[Paid](ctx, "payment", step.WaitForEventOpts{
		Event:   "order/paid",
		Timeout: 3 * 24 * time.Hour,
		If:      "event.data.orderId == async.data.orderId",
	})
	if errors.Is(err, step.ErrEventNotReceived) {
		return map[string]string{"orderId": order.OrderID, "status": "never paid"}, nil
	}
	if err != nil {
		return nil, err
	}
	packed, err := packAndBook(ctx, order)
	if err != nil {
		return nil, err
	}
	sold := make([]any, len(order.Lines))
	for i, line := range order.Lines {
		sold[i] = tidegate.GenericEvent[Line]{Name: "stock/changed", Data: Line{SKU: line.SKU, Quantity: -line.Quantity}}
	}
	if _, err := step.SendMany(ctx, "tell the warehouse", sold); err != nil {
		return nil, err
	}
	if err := step.Sleep(ctx, "on its way", 2*time.Second); err != nil {
		return nil, err
	}
	_, err = step.Run(ctx, "ask for a review", func(context.Context) (any, error) {
		say("fulfil-order", "%s: how was parcel %s?", order.Customer, packed.Number)
		return nil, nil
	})
	return map[string]any{"orderId": order.OrderID, "status": "delivered", "parcel": packed}, err
}

// packAndBook does both at the same time.
func packAndBook(ctx context.Context, order Placed) (packed parcel, err error) {
	err = step.Parallel(ctx,
		func(ctx context.Context) (err error) {
			packed, err = step.Run(ctx, "pack", func(context.Context) (parcel, error) {
				say("fulfil-order", "order %s: packed", order.OrderID)
				pieces := 0
				for _, line := range order.Lines {
					pieces += line.Quantity
				}
				return parcel{Number: "P-" + order.OrderID, Pieces: pieces}, nil
			})
			return err
		},
		func(ctx context.Context) error {
			_, err := step.Run(ctx, "book courier", func(context.Context) (any, error) {
				say("fulfil-order", "order %s: courier booked", order.OrderID)
				return nil, nil
			})
			return err
		})
	return packed, err
}

func askForHelp(_ context.Context, in tidegate.FailureInput) (any, error) {
	var order Placed
	if err := json.Unmarshal(in.Event.Data.Event.Data, &order); err != nil {
		return nil, err
	}
	say("fulfil-order", "order %s needs help: %s", order.OrderID, in.Err.Message)
	return nil, nil
}
