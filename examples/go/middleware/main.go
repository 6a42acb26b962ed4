package main

import (
	"context"
	"log"
	"net/http"
	"os"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/encryption"
	"github.com/tidegate/tidegate/clients/go/step"
)

type Order struct {
	OrderID string `json:"orderId"`
	// Encrypted is readable for apps with the key alone.
	Encrypted struct {
		Card string `json:"card"`
	} `json:"encrypted"`
}

// Bank is what handlers need.
type Bank struct{ name string }

func (b *Bank) charge(card string) string { return b.name + " charged the card " + card }

type bankKey struct{}

// withBank hands the bank on to handlers.
func withBank(bank *Bank) tidegate.Middleware {
	return tidegate.Middleware{
		Name: "bank",
		OnRun: func(ctx context.Context, _ *tidegate.RunCall, next func(context.Context) (any, error)) (any, error) {
			return next(context.WithValue(ctx, bankKey{}, bank))
		},
	}
}

// timed logs how long each step takes.
var timed = tidegate.Middleware{
	Name: "timed",
	OnStep: func(ctx context.Context, s *tidegate.StepCall, next func(context.Context) (any, error)) (any, error) {
		begin := time.Now()
		result, err := next(ctx)
		log.Printf("run %s: %s took %s", s.RunID, s.Name, time.Since(begin))
		return result, err
	},
}

func chargeOrder(ctx context.Context, in tidegate.Input[Order]) (any, error) {
	bank := ctx.Value(bankKey{}).(*Bank)
	return step.Run(ctx, "charge", func(context.Context) (string, error) {
		return bank.charge(in.Event.Data.Encrypted.Card), nil
	})
}

func main() {
	secret, err := encryption.New(encryption.Opts{Key: os.Getenv("ENCRYPTION_KEY")})
	if err != nil {
		log.Fatal(err)
	}
	client, err := tidegate.NewClient(tidegate.ClientOpts{
		AppID:      "shop",
		Middleware: []tidegate.Middleware{secret, timed},
	})
	if err != nil {
		log.Fatal(err)
	}
	charge, err := tidegate.CreateFunction(client, tidegate.FunctionOpts{
		ID:          "charge-order",
		Description: "Charges the card of an order",
		Group:       "payments",
		Middleware:  []tidegate.Middleware{withBank(&Bank{name: "Example Bank"})},
	}, tidegate.EventTrigger("order/confirmed"), chargeOrder)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: "/api/service"}, charge)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:3000", handler))
}
