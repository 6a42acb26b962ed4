// Official is an app written with the official Go SDK of the protocol, for test/official.
//
// It takes the service's address and keys as that SDK does (INNGEST_DEV, or INNGEST_BASE_URL with INNGEST_EVENT_KEY and
// INNGEST_SIGNING_KEY), listens at a free port of 127.0.0.1, says so as one line of JSON, {"url": …}, and ends when its stdin
// does. The functions are those of test/official/scenarios.ts, or with the argument "features" those of features.ts. With
// "connect" the app opens a WebSocket instead of listening.
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
	"slices"

	"github.com/inngest/inngestgo"
)

const path = "/api/inngest"

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	appID, host := "official-go", host
	if slices.Contains(os.Args[1:], "features") {
		appID, host = "official-go-features", hostFeatures
	}
	opts := inngestgo.ClientOpts{AppID: appID}
	if address := os.Getenv("INNGEST_DEV"); address != "" {
		// Else the SDK sends checkpoints to its maker.
		opts.APIBaseURL = &address
	}
	client, err := inngestgo.NewClient(opts)
	if err != nil {
		return err
	}
	host(client)
	if slices.Contains(os.Args[1:], "connect") {
		return connectUntilStdinEnds(client)
	}
	return serveUntilStdinEnds(client.Serve())
}

func connectUntilStdinEnds(client inngestgo.Client) error {
	connection, err := inngestgo.Connect(context.Background(), inngestgo.ConnectOpts{Apps: []inngestgo.Client{client}})
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"url": "wss://connect"}); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return connection.Close()
}

func serveUntilStdinEnds(app http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(path, app)
	server := &http.Server{Handler: mux}
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
