// Package host serves an app of a test.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
)

// Path is that of the app.
const Path = "/api/service"

// UntilStdinEnds listens at a free port of 127.0.0.1, and says so as one line of JSON, {"url": …}.
func UntilStdinEnds(handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	serving := make(chan error, 1)
	go func() { serving <- server.Serve(listener) }()

	url := "http://" + listener.Addr().String() + Path
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
