/** Secrets of a step's request, which no error, history or log may contain. */
import type { StepRequest } from './step-request.ts';

const SECRET_NAME = /auth|key|token|secret|cookie|password|session|sig/i;
/** Shorter texts are not treated as secrets: replacing them would garble other text. */
const MIN_LENGTH = 8;
const REDACTED = '[redacted]';

export function isSecretHeader(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** The texts of a request that no message may contain. */
export function secretsOf({ url, headers, authKey }: StepRequest): string[] {
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) =>
    isSecretHeader(name) ? [value, ...value.split(' ')] : [],
  );
  const { searchParams, search } = new URL(url);
  const ofQuery = [...searchParams].flatMap(([name, value]) => (SECRET_NAME.test(name) ? [value] : []));
  const found = [authKey ?? '', ...ofHeaders, ...ofQuery, search].filter((text) => text.length >= MIN_LENGTH);
  // Longest first, because one may contain another.
  return [...new Set(found)].sort((a, b) => b.length - a.length);
}

export function redact(text: string, secrets: readonly string[]): string {
  let redacted = text;
  for (const secret of secrets) {
    redacted = redacted.replaceAll(secret, REDACTED);
    const escaped = JSON.stringify(secret).slice(1, -1);
    if (escaped !== secret) redacted = redacted.replaceAll(escaped, REDACTED);
  }
  return redacted;
}
