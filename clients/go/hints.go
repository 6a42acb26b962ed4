package tidegate

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"
)

// devHint is for who has forgotten that a service on the own machine is one in dev mode.
const devHint = "For a service on your own machine set SERVICE_DEV=1 instead, " +
	"or SERVICE_DEV=http://127.0.0.1:<port> when it does not listen on port 8288"

// unreachable says that no response has come, and how to fix that.
func (s settings) unreachable(baseURL string, err error) string {
	message := fmt.Sprintf("The service at %s could not be reached: %v", baseURL, err)
	switch {
	case !errors.Is(err, syscall.ECONNREFUSED):
		return message
	case s.dev:
		return message + ". Is it started? In dev mode a service listens on port 8288, unless its PORT says otherwise: " +
			"then set SERVICE_DEV to its address, such as http://127.0.0.1:9000"
	default:
		return message + ". Is it started, and is SERVICE_BASE_URL its address?"
	}
}

// refusedHint follows the message of a response of this status; it is empty when the mode of the app cannot be the reason.
func (s settings) refusedHint(status int) string {
	switch {
	case status != http.StatusUnauthorized:
		return ""
	case s.dev:
		return ". SERVICE_DEV is set, so this app shows no keys: unset it for a service that is not in dev mode"
	default:
		return ". This app is in production mode, for SERVICE_DEV is not set. " + devHint
	}
}

// unsignedHint follows the message about a call that is not signed. Calls of a service in dev mode are not signed.
func unsignedHint(signature string) string {
	if signature != "" {
		return ""
	}
	return ". This app is in production mode: if a service in dev mode called it, set SERVICE_DEV=1 for the app"
}
