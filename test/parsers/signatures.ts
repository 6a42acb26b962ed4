/** Verifies requests by schemes whose cost depends on what a stranger sends. */
import { customVerificationSchema, type VerificationScheme } from '../../src/providers/preset.ts';
import type { VerificationResult } from '../../src/providers/verification/verification.ts';
import { createVerifier } from '../../src/providers/verification/verifier.ts';
import { type GivenRequest, providerRequest } from '../support/provider-requests.ts';

type Verify = (request: GivenRequest) => VerificationResult | Promise<VerificationResult>;

function verifyBy(scheme: VerificationScheme, secrets: string[]): Verify {
  const verifier = createVerifier(scheme, secrets);
  const options = { nowMs: Date.now(), fetchDocument: async () => '' };
  return (request) => verifier(providerRequest({ urls: ['https://example.com/e/1'], ...request }), options);
}

/** Verifies `v1=…,v1=…` in the header x-signature, with two secrets. */
export const verifySignatures = verifyBy(
  customVerificationSchema.parse({
    scheme: 'hmac',
    algorithm: 'sha512',
    encoding: 'base64',
    signature: { at: 'header:x-signature', separator: ',', prefix: 'v1=' },
    signed: '{timestamp}.{body}.{url}',
    timestamp: { at: 'header:x-signature', separator: ',', prefix: 't=', unit: 's', tolerance: 86_400 },
  }),
  ['one secret', 'another'],
);

export const verifyJwt = verifyBy(
  customVerificationSchema.parse({ scheme: 'jwt', token: { at: 'header:x-signature' }, algorithms: ['HS256'] }),
  ['a secret of some length, and another part'],
);

/** A token in each item of the body, ten levels deep. */
export const verifyItems = verifyBy(
  customVerificationSchema.parse({ scheme: 'token', token: { at: 'body:*.a.a.a.a.a.a.a.a.a' } }),
  ['one secret'],
);

/** Signs the sorted fields of a form. */
export const verifyForm = verifyBy({ scheme: 'twilio' }, ['0'.repeat(32)]);
