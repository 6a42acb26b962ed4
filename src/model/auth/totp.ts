/** Time-based one-time passwords as authenticator apps make them: RFC 6238 with its defaults (SHA-1, 6 digits, 30 s). */
import { createHmac, randomBytes } from 'node:crypto';
import { sameSecret } from './secret.ts';

const STEP_MS = 30_000;
const DIGITS = 6;
/** As long as the output of SHA-1 (RFC 4226, section 4). */
const SECRET_BYTES = 20;
/** A clock may be a step ahead or behind (RFC 6238, section 5.2). */
const STEPS_TOLERATED = [0, -1, 1];
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** @returns base32, as people type it */
export function newTotpSecret(): string {
  return base32Of(randomBytes(SECRET_BYTES));
}

/** @param afterStep of the code that was used last: no code counts twice
 *  @returns the step of the code, or undefined if it is wrong */
export function totpStepOf(code: string, secret: string, nowMs: number, afterStep = 0): number | undefined {
  const current = Math.floor(nowMs / STEP_MS);
  const steps = STEPS_TOLERATED.map((by) => current + by);
  return steps.find((step) => step > afterStep && sameSecret(code, totpAt(secret, step)));
}

export function totpCode(secret: string, nowMs: number): string {
  return totpAt(secret, Math.floor(nowMs / STEP_MS));
}

/** The content of the QR code for an authenticator app. */
export function totpUri(secret: string, account: string): string {
  const label = encodeURIComponent(`Tidegate:${account}`);
  return `otpauth://totp/${label}?secret=${secret}&issuer=Tidegate`;
}

export function base32Of(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{1,5}/g) ?? []).map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

function totpAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const offset = (digest.at(-1) as number) & 0xf;
  const number = (digest.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS;
  return String(number).padStart(DIGITS, '0');
}

function bytesOf(secret: string): Buffer {
  const bits = Array.from(secret, (letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
