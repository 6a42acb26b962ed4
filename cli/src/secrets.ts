/** Secrets in output: shown once, when they are created; masked everywhere else. */
import type { Json } from './api-client.ts';
import type { Output } from './output.ts';

const SHOWN = 4;

/** The secret, for people and programs, the only time that it is shown. */
export function printCreated(output: Output, created: Json, what: string): void {
  const { secret, ...rest } = created;
  output.result(created, () => {
    output.note(`The ${what} ${rest.name} (${rest.id}). This is the only time that its secret is shown:`);
    output.line(secret);
  });
}

/** …and its last characters. */
export function masked(secret: string | null): string | null {
  return secret && `…${secret.slice(-SHOWN)}`;
}

/** A webhook's URL authenticates its sender. */
export function maskedUrl(url: string | null): string | null {
  return url === null ? null : url.replace(/\/e\/(.+)$/, (_, key: string) => `/e/${masked(key)}`);
}
