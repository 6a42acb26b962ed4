package webhook_test

import (
	"errors"
	"fmt"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/webhook"
)

func ExampleGitHub() {
	data := webhook.Signed{
		Raw: "Hello, World!",
		Sig: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
	}
	fmt.Println(webhook.GitHub(data, "It's a Secret to Everybody"))

	err := webhook.GitHub(data, "another secret")
	var final *tidegate.NonRetriableError
	fmt.Println(err, errors.As(err, &final))
	// Output:
	// <nil>
	// The webhook is not genuine: the signature is wrong true
}
