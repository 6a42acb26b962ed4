/** Password hashes: scrypt with a random salt. The hash includes its parameters, so that they can be raised later. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** 32 MiB and about 0.2 s per check. */
const COST = { N: 2 ** 15, r: 8, p: 3 };
const MAX_MEMORY = 128 * 1_024 * 1_024;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

/** `scrypt$N$r$p$<salt>$<key>`, both in base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(password, salt, KEY_BYTES, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** Takes as long for a missing password (unknown or invited user) as for a wrong one. */
export async function isPassword(password: string, storedHash: string | undefined): Promise<boolean> {
  const [, N, r, p, salt = '', key = ''] = (storedHash ?? DUMMY_HASH).split('$');
  const expected = Buffer.from(key, 'base64url');
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64url'), expected.length, cost);
  return timingSafeEqual(derived, expected) && storedHash !== undefined;
}

/** Stands in for a missing hash, at the same cost. */
const DUMMY_HASH = ['scrypt', COST.N, COST.r, COST.p, 'A'.repeat(22), 'A'.repeat(43)].join('$');

function derive(password: string, salt: Buffer, bytes: number, cost: ScryptOptions): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(password.normalize('NFKC'), salt, bytes, { ...cost, maxmem: MAX_MEMORY }, (error, key) =>
    error ? reject(error) : resolve(key),
  );
  return promise;
}
