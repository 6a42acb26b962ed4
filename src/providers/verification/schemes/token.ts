/** Requests that contain the secret itself: a token in a header, or HTTP Basic. */
import { sameSecret } from '../../../model/auth/secret.ts';
import type { Field } from '../../preset.ts';
import { nameOf, valuesOf } from '../fields.ts';
import { failed, type Verifier } from '../verification.ts';

const BASIC: Field = { at: 'header:authorization', prefix: 'Basic ' };

export function tokenVerifier({ token }: { token: Field }, secrets: readonly string[]): Verifier {
  if (token.at.includes('*')) return everyTokenVerifier(token, secrets);
  return (request) => {
    const [value] = valuesOf(request, token);
    if (value === undefined) return failed('signature_missing', `${nameOf(token.at)} has no token`);
    return compared(value, secrets, `the token in ${nameOf(token.at)}`);
  };
}

/** Every item of the request must have the same, valid token. */
function everyTokenVerifier({ at }: Field, secrets: readonly string[]): Verifier {
  return (request) => {
    const tokens = request.everyAt(at);
    if (!tokens) return failed('signature_missing', `${nameOf(at)} is not in every item`);
    const [token] = tokens;
    if (tokens.size > 1 || token === undefined) {
      return failed('signature_mismatch', `the items have different texts in ${nameOf(at)}`);
    }
    return compared(token, secrets, `the token in ${nameOf(at)}`);
  };
}

/** @param secrets `user:password` */
export function basicVerifier(secrets: readonly string[]): Verifier {
  return (request) => {
    const [value] = valuesOf(request, BASIC);
    if (value === undefined) return failed('signature_missing', 'the request has no Basic authorization');
    return compared(Buffer.from(value, 'base64').toString('utf8'), secrets, 'user and password');
  };
}

function compared(value: string, secrets: readonly string[], what: string) {
  const matches = secrets.map((secret) => sameSecret(value, secret));
  const secretIndex = matches.indexOf(true);
  if (secretIndex === -1) return failed('signature_mismatch', `${what} is not the secret of this webhook`);
  return { result: 'verified' as const, secretIndex };
}
