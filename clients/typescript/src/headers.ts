/** The protocol's headers: no other file spells their names. This client speaks the neutral dialect. */
import { VERSION } from './version.ts';

const PREFIX = 'x-service-';

export const HEADERS = {
  sdk: `${PREFIX}sdk`,
  env: `${PREFIX}env`,
  signature: `${PREFIX}signature`,
  signatureUrl: `${PREFIX}signature-url`,
  reqVersion: `${PREFIX}req-version`,
  noRetry: `${PREFIX}no-retry`,
  expectedServerKind: `${PREFIX}expected-server-kind`,
  eventIdSeed: `${PREFIX}event-id-seed`,
  framework: `${PREFIX}framework`,
  requestId: 'x-request-id',
  retryAfter: 'retry-after',
} as const;

/** How this library names itself, in the sdk header and when it registers. */
export const SDK = `ts:v${VERSION}`;

/** The execution version that this library speaks. */
export const REQ_VERSION = '2';
