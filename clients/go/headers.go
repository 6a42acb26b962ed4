package tidegate

// The protocol's headers: no other file spells their names. This client speaks the neutral dialect.
const (
	headerPrefix             = "x-service-"
	headerSDK                = headerPrefix + "sdk"
	headerEnv                = headerPrefix + "env"
	headerSignature          = headerPrefix + "signature"
	headerSignatureURL       = headerPrefix + "signature-url"
	headerReqVersion         = headerPrefix + "req-version"
	headerNoRetry            = headerPrefix + "no-retry"
	headerExpectedServerKind = headerPrefix + "expected-server-kind"
	headerEventIDSeed        = headerPrefix + "event-id-seed"
	headerFramework          = headerPrefix + "framework"
	headerWhatIf             = headerPrefix + "what-if"
	headerRequestID          = "x-request-id"
	headerRetryAfter         = "retry-after"
)

// sdkName is how this library names itself, in the sdk header and when it registers.
const sdkName = "go:v" + Version

// reqVersion is the execution version that this library speaks.
const reqVersion = "2"
