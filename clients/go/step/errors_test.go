package step_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	tidegate "github.com/tidegate/tidegate/clients/go"
	"github.com/tidegate/tidegate/clients/go/step"
)

type NoCardError struct{ card int }

func (e *NoCardError) Error() string { return fmt.Sprint("card ", e.card) }

// failing is the response of a function that returns the error, without the stack.
func failing(t *testing.T, err error) string {
	t.Helper()
	body := call(t, func(context.Context, tidegate.Input[map[string]any]) (any, error) { return nil, err }, called{}).body
	return stackField.ReplaceAllString(body, "")
}

var stackField = regexp.MustCompile(`"stack":"(?:[^"\\]|\\.)*",`)

func TestErrorsTravelWithWhatTheyHave(t *testing.T) {
	refused := tidegate.Detailed(&NoCardError{7}, "E_CARD", map[string]int{"card": 7})
	details := `"data":{"card":7},"code":"E_CARD"}`
	for title, c := range map[string]struct {
		err  error
		want string
	}{
		"code and data, under the name of the error": {refused, `{"name":"NoCardError","message":"card 7",` + details},
		"also of one that is not retried":            {tidegate.NonRetriable(refused), `{"name":"NonRetriableError","message":"card 7",` + details},
		"what an error wraps is its cause": {
			fmt.Errorf("charging: %w", refused),
			`{"name":"Error","message":"charging: card 7","cause":{"name":"NoCardError","message":"card 7",` + details + `}`,
		},
		"no cause of the same message": {fmt.Errorf("%w", errors.New("no")), `{"name":"Error","message":"no"}`},
		"the code of a send":           {&tidegate.SendError{Message: "no", Code: "event_invalid"}, `{"name":"SendError","message":"no","code":"event_invalid"}`},
		"a number as code":             {tidegate.Detailed(errors.New("no"), 402, nil), `{"name":"Error","message":"no","code":402}`},
	} {
		t.Run(title, func(t *testing.T) { expect(t, "error", failing(t, c.err), c.want) })
	}
	t.Run("five causes", func(t *testing.T) {
		err := errors.New("0")
		for i := 1; i < 10; i++ {
			err = fmt.Errorf("%d %w", i, err)
		}
		expect(t, "causes", fmt.Sprint(strings.Count(failing(t, err), `"cause"`)), "5")
	})
	t.Run("data that is no JSON is told in words", func(t *testing.T) {
		if got := failing(t, tidegate.Detailed(errors.New("no"), nil, make(chan int))); !strings.Contains(got, `"data":"This cannot be written as JSON`) {
			t.Errorf("got %s", got)
		}
	})
}

func TestAFailedStepReturnsWhatItsErrorHad(t *testing.T) {
	memo := `{"name":"NoCardError","message":"no","stack":"s","cause":%s,"data":{"card":7},"code":"E_CARD"}`
	nested := `{"name":"MoneyError","message":"no money","cause":{"name":"Error","message":"broke"},"code":402}`
	for title, cause := range map[string]string{"": nested, "any value": `["no","error"]`, "text": `"a text"`} {
		t.Run("a cause: "+title, func(t *testing.T) {
			failure := fmt.Sprintf(memo, cause)
			var got *tidegate.StepError
			a := call(t, func(ctx context.Context, _ tidegate.Input[map[string]any]) (any, error) {
				_, err := step.Run(ctx, "a", gives(1))
				errors.As(err, &got)
				return nil, err
			}, called{steps: map[string]string{"a": `{"error":` + failure + `}`}})
			var data struct{ Card int }
			if json.Unmarshal(got.Data, &data) != nil || data.Card != 7 || got.Code != "E_CARD" {
				t.Errorf("got %+v", got)
			}
			var of *tidegate.CauseError
			if !errors.As(got, &of) {
				t.Fatalf("got %+v", got)
			}
			if title == "" && (of.Name != "MoneyError" || of.Code != 402.0 || errors.Unwrap(of).Error() != "broke") {
				t.Errorf("got %+v", of)
			}
			expect(t, "not caught, it travels on", a.body, failure)
		})
	}
}
