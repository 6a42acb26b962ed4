package tidegate_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/internal/clock"
)

// closedAddress is an address at which nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

func expectWords(t *testing.T, message string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(message, word) {
			t.Errorf("expected %q in %q", word, message)
		}
	}
}

func withoutVariables(t *testing.T) {
	for _, name := range []string{"DEV", "BASE_URL", "EVENT_KEY", "SIGNING_KEY", "SIGNING_KEY_FALLBACK", "SERVE_ORIGIN"} {
		t.Setenv("SERVICE_"+name, "")
	}
}

func TestMessagesNameTheForgottenSetting(t *testing.T) {
	t.Run("when nobody listens at the address of a service in dev mode", func(t *testing.T) {
		withoutVariables(t)
		address := closedAddress(t)
		t.Setenv("SERVICE_DEV", address)
		client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
		_, err := client.Send(clock.With(t.Context(), instantClock{}), tidegate.Event{Name: "order/paid"})
		expectWords(t, err.Error(), address, "connection refused", "Is it started", "8288", "SERVICE_DEV")

		app := newApp(t, client, tidegate.ServeOpts{}, newFunction(t, client, "fn", echo))
		a := app.Answer(t.Context(), tidegate.AppRequest{Method: "PUT", URL: "/", Header: http.Header{"Host": {"127.0.0.1:3000"}}})
		expectWords(t, string(a.Body), address, "Is it started", "8288", "SERVICE_DEV")
	})

	t.Run("when SERVICE_DEV is not set and no other variable is", func(t *testing.T) {
		withoutVariables(t)
		client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
		_, err := client.Send(t.Context(), tidegate.Event{Name: "order/paid"})
		expectWords(t, err.Error(), "SERVICE_BASE_URL", "SERVICE_DEV=1", "8288")

		app := newApp(t, client, tidegate.ServeOpts{}, newFunction(t, client, "fn", echo))
		a := app.Answer(t.Context(), tidegate.AppRequest{Method: "PUT", URL: "/", Header: http.Header{"Host": {"127.0.0.1:3000"}}})
		expectWords(t, string(a.Body), "SERVICE_SERVE_ORIGIN", "SERVICE_DEV=1", "8288")
	})

	t.Run("when a service refuses the keys of an app in production mode", func(t *testing.T) {
		withoutVariables(t)
		service := refusingService(t)
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", BaseURL: service, EventKey: "key", SigningKey: signingKey})
		_, err := client.Send(t.Context(), tidegate.Event{Name: "order/paid"})
		var refused *tidegate.SendError
		if !errors.As(err, &refused) || refused.Status != 401 {
			t.Fatalf("got %v", err)
		}
		expectWords(t, err.Error(), "unknown", "production mode", "SERVICE_DEV=1", "8288")

		app := newApp(t, client, tidegate.ServeOpts{Origin: "https://shop.example"}, newFunction(t, client, "fn", echo))
		a := app.Answer(t.Context(), tidegate.AppRequest{Method: "PUT", URL: "/"})
		expectWords(t, string(a.Body), "unknown", "production mode", "SERVICE_DEV=1", "8288")
	})

	t.Run("when a service in production mode refuses an app in dev mode", func(t *testing.T) {
		withoutVariables(t)
		t.Setenv("SERVICE_DEV", refusingService(t))
		client := newClient(t, tidegate.ClientOpts{AppID: "shop"})
		_, err := client.Send(t.Context(), tidegate.Event{Name: "order/paid"})
		expectWords(t, err.Error(), "unknown", "SERVICE_DEV is set", "unset it")
	})

	t.Run("when a service in dev mode calls an app in production mode", func(t *testing.T) {
		withoutVariables(t)
		client := newClient(t, tidegate.ClientOpts{AppID: "shop", SigningKey: signingKey})
		a := wire(t, newFunction(t, client, "fn", echo), client, callBody)
		if a.Status != 401 {
			t.Errorf("got %d", a.Status)
		}
		expectWords(t, string(a.Body), "not signed", "SERVICE_DEV=1")
	})
}

// refusingService knows no key.
func refusingService(t *testing.T) string {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":"The key is unknown.","code":"unauthorized"}`)
	}))
	t.Cleanup(service.Close)
	return service.URL
}

// instantClock lets no time pass between tries.
type instantClock struct{}

func (instantClock) Now() time.Time                       { return time.Now() }
func (instantClock) Random() float64                      { return 0 }
func (instantClock) Sleep(context.Context, time.Duration) {}
