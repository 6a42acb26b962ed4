/** The seed of a send: `<unix ms>,<base64 of 10 bytes>`. The service derives the events' IDs from it (the nth adds n to the
 *  last 4 bytes), so sending events again with the same seed creates no duplicates. */
import { createHash, randomBytes } from 'node:crypto';

const SEED = /^(\d{1,15}),([A-Za-z0-9+/]{14}==)$/;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_TIME = /^[0-7][0-9A-HJKMNP-TV-Z]{9}(?=[0-9A-HJKMNP-TV-Z]{16}$)/;

export function newSeed(nowMs: number): string {
  return `${nowMs},${randomBytes(10).toString('base64')}`;
}

/** The same in every attempt of a step, and different for each step.
 *  @param timeMs used if the run ID is not a ULID, which contains its time */
export function seedOfStep(runId: string, hashedStepId: string, timeMs: number): string {
  const entropy = createHash('sha256').update(`${runId}:${hashedStepId}`).digest().subarray(0, 10);
  return `${ulidTimeMs(runId) ?? Math.max(0, Math.trunc(timeMs))},${entropy.toString('base64')}`;
}

/** The seed for a request that starts with the event at this index: its events get the same IDs as in a single request.
 *  @throws TypeError if the seed is invalid */
export function seedFrom(seed: string, index: number): string {
  const [, time, base64 = ''] = SEED.exec(seed) ?? [];
  if (!time) throw new TypeError(`A seed is <unix ms>,<base64 of 10 bytes>; got ${JSON.stringify(seed)}`);
  const entropy = Buffer.from(base64, 'base64');
  entropy.writeUInt32BE((entropy.readUInt32BE(6) + index) >>> 0, 6);
  return `${time},${entropy.toString('base64')}`;
}

function ulidTimeMs(id: string): number | undefined {
  const digits = ULID_TIME.exec(id)?.[0];
  return digits === undefined ? undefined : [...digits].reduce((sum, digit) => sum * 32 + CROCKFORD.indexOf(digit), 0);
}

/** The internal ID that the service gives to the nth event (from 1) under the seed.
 *  @throws TypeError if the seed is invalid */
export function seededId(seed: string, n: number): string {
  const [time = '', base64 = ''] = seedFrom(seed, n).split(',');
  return ulidDigits(BigInt(time), 10) + ulidDigits(BigInt(`0x${Buffer.from(base64, 'base64').toString('hex')}`), 16);
}

function ulidDigits(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= 32n) digits = CROCKFORD.charAt(Number(rest % 32n)) + digits;
  return digits;
}
