/** UUIDs for clients that expect one where the service has a name. */
import { hash } from 'node:crypto';

/** Version 8, whose bits are a hash of the text: the same text always has the same UUID. */
export function uuidOf(text: string): string {
  const digits = hash('sha256', text, 'hex');
  const variant = '89ab'[Number.parseInt(digits[16] as string, 16) % 4];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `8${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
