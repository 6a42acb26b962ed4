// Together hosts the Go part of test/languages/together.test.ts.
//
// It takes the service's address as the client does (SERVICE_DEV), listens at a free port of 127.0.0.1, says so as one line of
// JSON, {"url": …}, and ends when its stdin does. Its function:
//
//	together-go-hears, on the event together/listen {n}: waits for the event together/told of the same n, and puts out
//	{"heard": …} what that says in its data's "doubled".
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

const path = "/api/service"

type question struct {
	N int `json:"n"`
}

type answer struct {
	N       int `json:"n"`
	Doubled int `json:"doubled"`
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	handler, err := newApp()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(listener) }()

	url := "http://" + listener.Addr().String() + path
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": url}); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if err := server.Shutdown(context.Background()); err != nil {
		return err
	}
	if err := <-serving; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func newApp() (http.Handler, error) {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "together-go"})
	if err != nil {
		return nil, err
	}
	hears, err := tidegate.CreateFunction(
		client,
		tidegate.FunctionOpts{ID: "hears"},
		tidegate.EventTrigger("together/listen"),
		func(ctx context.Context, in tidegate.Input[question]) (any, error) {
			told, err := step.WaitForEvent[answer](ctx, "told", step.WaitForEventOpts{
				Event:   "together/told",
				Timeout: time.Minute,
				If:      "event.data.n == async.data.n",
			})
			if err != nil {
				return nil, err
			}
			return map[string]int{"heard": told.Data.Doubled}, nil
		},
	)
	if err != nil {
		return nil, err
	}
	return tidegate.Serve(client, tidegate.ServeOpts{Path: path}, hears)
}
