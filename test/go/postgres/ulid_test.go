package postgres_test

import (
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strconv"
	"strings"
)

// ulidOf is the internal ID of an event by its send, as the service makes it, written a second time.
func ulidOf(seed string, number int) (string, error) {
	timeText, entropyText, _ := strings.Cut(seed, ",")
	ms, err := strconv.ParseInt(timeText, 10, 64)
	if err != nil {
		return "", err
	}
	entropy, err := base64.StdEncoding.DecodeString(entropyText)
	if err != nil {
		return "", err
	}
	binary.BigEndian.PutUint32(entropy[6:], binary.BigEndian.Uint32(entropy[6:])+uint32(number))
	whole := new(big.Int).Lsh(big.NewInt(ms), 80)
	whole.Or(whole, new(big.Int).SetBytes(entropy))
	const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	digits := make([]byte, 26)
	for i := range digits {
		shifted := new(big.Int).Rsh(whole, uint(5*(25-i)))
		digits[i] = crockford[shifted.Uint64()%32]
	}
	return string(digits), nil
}
