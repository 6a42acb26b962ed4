package pg

import (
	"errors"
	"fmt"
)

const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	undefinedTable       = "42P01"
)

// stateOf is the SQLSTATE of an error of pgx or lib/pq; empty: it has none.
func stateOf(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}

// mayPass says that the same transaction may succeed if it is tried again.
func mayPass(err error) bool {
	state := stateOf(err)
	return state == serializationFailure || state == deadlockDetected
}

// Explain adds what to do to an error of a statement of this package.
func Explain(err error, table string) error {
	if stateOf(err) != undefinedTable {
		return err
	}
	return fmt.Errorf("the database has no table %s (in the search_path of the connection): add the output of `tidegate outbox migrate --print` to your migrations: %w", table, err)
}
