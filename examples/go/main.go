// A small shop whose functions run on events: examples/go/start
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

const path = "/api/service"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run serves the functions until the context is done.
func run(ctx context.Context) error {
	client, err := tidegate.NewClient(tidegate.ClientOpts{AppID: "example-shop-go"})
	if err != nil {
		return err
	}
	functions, err := shop(client)
	if err != nil {
		return err
	}
	handler, err := tidegate.Serve(client, tidegate.ServeOpts{Path: path}, functions...)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+portOr("3941"))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	url := fmt.Sprintf("http://%s%s", listener.Addr(), path)
	fmt.Printf("example-shop-go serves %d functions at %s\n", len(functions), url)
	if err := registerWhenReady(ctx, url); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	if err := server.Shutdown(context.Background()); err != nil {
		return err
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func portOr(usual string) string {
	if port := os.Getenv("PORT"); port != "" {
		return port
	}
	return usual
}

// registerWhenReady asks the app, by its own URL, to register: again and again until the service has answered. It says
// why it waits, once.
func registerWhenReady(ctx context.Context, url string) error {
	said := ""
	for {
		registered, message, err := register(ctx, url)
		if err != nil {
			return err
		}
		if message != said {
			fmt.Println(message)
			said = message
		}
		if registered {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
}

func register(ctx context.Context, url string) (registered bool, message string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, url, nil)
	if err != nil {
		return false, "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false, "", err
	}
	defer answer.Body.Close()
	var body struct {
		Message string `json:"message"`
	}
	err = json.NewDecoder(answer.Body).Decode(&body)
	return answer.StatusCode == http.StatusOK, body.Message, err
}
