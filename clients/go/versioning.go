package tidegate

import "fmt"

// Versioning says on which version of the app a run continues after a deploy.
type Versioning string

const (
	// Latest: with the newest.
	Latest Versioning = "latest"
	// Pinned: on that on which it began, to its end.
	Pinned Versioning = "pinned"
)

func (v Versioning) check() string {
	if v == "" || v == Latest || v == Pinned {
		return ""
	}
	return fmt.Sprintf("Versioning must be Latest or Pinned, got %q", string(v))
}
