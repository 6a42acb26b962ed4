package tidegate_test

import (
	"os"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
)

func TestTheREADMEInstallsThisVersion(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"tidegate/clients/go@v", "clients/go/v"} {
		found := strings.Count(string(text), words)
		if current := strings.Count(string(text), words+tidegate.Version); found == 0 || current != found {
			t.Errorf("%d of %d times that the README says %q, this version %s follows", current, found, words, tidegate.Version)
		}
	}
}
