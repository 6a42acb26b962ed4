package tidegate

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/tidegate/tidegate/clients/go/internal/signature"
)

const (
	devBaseURL      = "http://127.0.0.1:8288"
	devEventKey     = "dev"
	defaultMaxBytes = 512 * 1_024
)

// settings come from the options of a client or from SERVICE_* variables. Only this file reads the environment,
// and only when a setting is needed: a client may be made before the variables are loaded. Reading one that is missing,
// and needed in this mode, fails with a ConfigError.
type settings struct {
	options ClientOpts
	dev     bool
	// devURL is the address in SERVICE_DEV.
	devURL string
}

func readSettings(options ClientOpts) (settings, error) {
	dev, devURL, err := readServiceDev(os.Getenv("SERVICE_DEV"))
	if options.Dev != nil {
		dev = *options.Dev
	}
	return settings{options: options, dev: dev, devURL: devURL}, err
}

// mode is also the kind of service that this client means to reach.
func (s settings) mode() string {
	if s.dev {
		return "dev"
	}
	return "cloud"
}

func (s settings) env() string { return firstOf(s.options.Env, os.Getenv("SERVICE_ENV")) }

func (s settings) maxBytes() int {
	if s.options.MaxBytes > 0 {
		return s.options.MaxBytes
	}
	return defaultMaxBytes
}

func (s settings) httpClient() *http.Client {
	if s.options.HTTPClient != nil {
		return s.options.HTTPClient
	}
	return http.DefaultClient
}

func (s settings) logger() *slog.Logger {
	if s.options.Logger != nil {
		return s.options.Logger
	}
	return slog.Default()
}

// logs is the app's setting for logs, if it is set.
func (s settings) logs() (sent, told bool) {
	if s.options.Logs != nil {
		return *s.options.Logs, true
	}
	value := os.Getenv("SERVICE_LOGS")
	return value != "0" && value != "false", value != ""
}

// errorSource: whether errors are sent with the lines of code where they came about.
func (s settings) errorSource() bool {
	if s.options.ErrorSource != nil {
		return *s.options.ErrorSource
	}
	value := os.Getenv("SERVICE_ERROR_SOURCE")
	return value != "0" && value != "false"
}

// stopsWithAnswer: the platform stops the process when it has the response.
func (s settings) stopsWithAnswer() bool { return os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != "" }

// serverless: the platform limits how long a request may take, and charges for the time.
func (s settings) serverless() bool {
	return firstOf(os.Getenv("AWS_LAMBDA_FUNCTION_NAME"), os.Getenv("VERCEL"), os.Getenv("FUNCTIONS_WORKER_RUNTIME")) != ""
}

// origin is the URL under which the service reaches the app, without a trailing slash; empty if not set.
func (s settings) origin() (string, error) {
	value := os.Getenv("SERVICE_SERVE_ORIGIN")
	if value == "" {
		return "", nil
	}
	return toOrigin(value)
}

// baseURL has no trailing slash.
func (s settings) baseURL() (string, error) {
	value := s.options.BaseURL
	if s.dev {
		value = firstOf(value, s.devURL)
	}
	value = firstOf(value, os.Getenv("SERVICE_BASE_URL"))
	if s.dev {
		value = firstOf(value, devBaseURL)
	}
	if value == "" {
		return "", missing("base URL", "SERVICE_BASE_URL", "BaseURL")
	}
	if !isHTTPURL(value) {
		return "", &ConfigError{fmt.Sprintf("The base URL (SERVICE_BASE_URL, or the option BaseURL) is not an http(s) address: %q", value)}
	}
	return strings.TrimRight(value, "/"), nil
}

func (s settings) eventKey() (string, error) {
	key := firstOf(s.options.EventKey, os.Getenv("SERVICE_EVENT_KEY"))
	if key == "" && s.dev {
		return devEventKey, nil
	}
	if key == "" {
		return "", missing("event key", "SERVICE_EVENT_KEY", "EventKey")
	}
	return key, nil
}

func (s settings) signingKey() (string, error) {
	key := firstOf(s.options.SigningKey, os.Getenv("SERVICE_SIGNING_KEY"))
	if key == "" {
		return "", missing("signing key", "SERVICE_SIGNING_KEY", "SigningKey")
	}
	return checkSigningKey(key, "SERVICE_SIGNING_KEY", "SigningKey")
}

// signingKeyFallback is empty if there is none.
func (s settings) signingKeyFallback() (string, error) {
	key := firstOf(s.options.SigningKeyFallback, os.Getenv("SERVICE_SIGNING_KEY_FALLBACK"))
	if key == "" {
		return "", nil
	}
	return checkSigningKey(key, "SERVICE_SIGNING_KEY_FALLBACK", "SigningKeyFallback")
}

// signingKeys are the key, and the fallback if there is one.
func (s settings) signingKeys() ([]string, error) {
	key, err := s.signingKey()
	if err != nil {
		return nil, err
	}
	fallback, err := s.signingKeyFallback()
	if fallback == "" {
		return []string{key}, err
	}
	return []string{key, fallback}, err
}

func readServiceDev(value string) (dev bool, address string, err error) {
	switch value {
	case "", "0", "false":
		return false, "", nil
	case "1", "true":
		return true, "", nil
	}
	if isHTTPURL(value) {
		return true, value, nil
	}
	return false, "", &ConfigError{fmt.Sprintf("SERVICE_DEV: got %q; it takes 1, true, 0, false or an http(s) address", value)}
}

// checkSigningKey says nothing of the key itself.
func checkSigningKey(key, variable, option string) (string, error) {
	if signature.IsKey(key) {
		return key, nil
	}
	return "", &ConfigError{fmt.Sprintf("The signing key (%s, or the option %s) must look like signkey-<word>-<hex>", variable, option)}
}

// toOrigin fails when it is no address, or one with a path.
func toOrigin(value string) (string, error) {
	if isHTTPURL(value) {
		parsed, err := url.Parse(value)
		if err == nil && (parsed.Path == "" || parsed.Path == "/") {
			return strings.TrimRight(value, "/"), nil
		}
	}
	return "", &ConfigError{fmt.Sprintf("The serve origin (SERVICE_SERVE_ORIGIN, or the option Origin) must be such as https://shop.example, got %q", value)}
}

var httpScheme = regexp.MustCompile(`^https?://`)

func isHTTPURL(value string) bool {
	parsed, err := url.Parse(value)
	return httpScheme.MatchString(value) && err == nil && parsed.Host != ""
}

func firstOf(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

func missing(what, variable, option string) error {
	return &ConfigError{fmt.Sprintf("There is no %s: set %s (or pass %s to tidegate.NewClient). %s", what, variable, option, devHint)}
}
