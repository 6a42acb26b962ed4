package tidegate

import (
	"net/http"
	"strings"
)

// urlOf is where the app is: the address under which it registers. Outside dev mode it is never the request's own word:
// whoever may forge its host would choose where the service sends every event.
func urlOf(r AppRequest, options ServeOpts, s settings) (string, error) {
	path := firstOf(options.Path, pathOf(r))
	origin, err := s.origin()
	if options.Origin != "" {
		origin, err = toOrigin(options.Origin)
	}
	if err != nil {
		return "", err
	}
	if origin == "" && !s.dev {
		return "", &ConfigError{"To register, the app must know its own address: set SERVICE_SERVE_ORIGIN (or pass Origin to tidegate.Serve), " +
			"such as https://shop.example. " + devHint}
	}
	if origin == "" {
		origin, err = originOf(r)
	}
	return origin + path, err
}

// originOf is deliberately without x-forwarded-host, even in dev mode.
func originOf(r AppRequest) (string, error) {
	scheme := "http"
	if r.Secure {
		scheme = "https"
	}
	forwarded, _, _ := strings.Cut(r.Header.Get("x-forwarded-proto"), ",")
	if forwarded = strings.TrimSpace(forwarded); forwarded == "http" || forwarded == "https" {
		scheme = forwarded
	}
	host := r.Header.Get("host")
	if host == "" {
		return "", &ServeError{Status: http.StatusBadRequest, Message: "The request names no host: set Origin"}
	}
	return scheme + "://" + host, nil
}

func pathOf(r AppRequest) string {
	path, _, _ := strings.Cut(r.URL, "?")
	return path
}
