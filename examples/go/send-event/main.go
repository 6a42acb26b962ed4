package main

import (
	"context"
	"fmt"
	"log"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

func main() {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	id, err := client.Send(context.Background(), tidegate.Event{
		Name: "order/paid",
		Data: map[string]any{"orderId": "A1", "customer": "Ada", "total": 120},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}
