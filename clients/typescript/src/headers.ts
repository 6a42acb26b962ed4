/** The protocol's headers; only this file has their names. This client uses the neutral dialect. */
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
  whatIf: `${PREFIX}what-if`,
  requestId: 'x-request-id',
  retryAfter: 'retry-after',
} as const;

/** Name of this client in the sdk header and in registrations. */
export const SDK = `ts:v${VERSION}`;

/** The execution version of this client. */
export const REQ_VERSION = '2';
