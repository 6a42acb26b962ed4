package tidegate

import (
	"context"
	"net/http"
	"time"

	"github.com/tidegate/tidegate/clients/go/internal/signature"
)

const askTimeout = 30 * time.Second

// serviceRequest is one of the app to the service that proves who asks, other than sending events.
type serviceRequest struct {
	method, path string
	header       http.Header
	body         []byte
}

// askService fails with a *ServeError when the service could not be reached, or with a *ConfigError. While the signing
// key is being rotated, the service may know only the other one of the two.
func askService(ctx context.Context, r serviceRequest, s settings) (answer, error) {
	if s.dev {
		return ask(ctx, r, s, "")
	}
	key, err := s.signingKey()
	if err != nil {
		return answer{}, err
	}
	a, err := ask(ctx, r, s, key)
	refused := a.status == http.StatusUnauthorized || a.status == http.StatusForbidden
	if err != nil || !refused {
		return a, err
	}
	fallback, err := s.signingKeyFallback()
	if err != nil || fallback == "" {
		return a, err
	}
	return ask(ctx, r, s, fallback)
}

func ask(ctx context.Context, r serviceRequest, s settings, key string) (answer, error) {
	baseURL, err := s.baseURL()
	if err != nil {
		return answer{}, err
	}
	header := http.Header{}
	for name, values := range r.header {
		header[name] = values
	}
	header.Set(headerSDK, sdkName)
	if env := s.env(); env != "" {
		header.Set(headerEnv, env)
	}
	if key != "" {
		header.Set("authorization", "Bearer "+signature.Bearer(key))
	}
	a, err := roundTrip(ctx, s.httpClient(), r.method, baseURL+r.path, header, r.body, askTimeout)
	if err != nil {
		return answer{}, &ServeError{Status: http.StatusInternalServerError, Message: s.unreachable(baseURL, err), cause: err}
	}
	return a, nil
}
