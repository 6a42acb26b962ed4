/** Second factors of users: a code of an authenticator app (TOTP), a passkey, or a recovery code. */
import { randomBytes } from 'node:crypto';
import { digestOf } from './secret.ts';
import { base32Of } from './totp.ts';

export const PASSKEYS_MAX = 10;
const RECOVERY_CODES = 10;
/** 80 bits: too many to try, also for somebody who has the digests. */
const RECOVERY_CODE_BYTES = 10;

export interface Passkey {
  /** The ID of the credential, base64url. */
  id: string;
  /** COSE, base64url. */
  publicKey: string;
  /** Signatures so far; 0 if the authenticator does not count them. */
  counter: number;
  /** The host name at which it works. */
  rpId: string;
  transports: string[];
  name: string;
  /** Unix milliseconds. */
  addedAt: number;
  lastUsedAt?: number;
}

export interface SecondFactors {
  /** `lastStep`: step of the last used code. */
  totp?: { sealed: string; addedAt: number; lastStep: number } | undefined;
  passkeys: Passkey[];
  /** Digests of unused recovery codes. */
  recoveryCodes: string[];
}

export const SECOND_FACTORS = ['totp', 'passkey'] as const;
export type SecondFactorKind = (typeof SECOND_FACTORS)[number];

export function kindsOf(factors: SecondFactors | undefined): SecondFactorKind[] {
  return SECOND_FACTORS.filter((kind) =>
    kind === 'totp' ? factors?.totp !== undefined : (factors?.passkeys.length ?? 0) > 0,
  );
}

/** `ABCD-EFGH-IJKL-MNOP`, shown once. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () =>
    (base32Of(randomBytes(RECOVERY_CODE_BYTES)).match(/.{4}/g) ?? []).join('-'),
  );
}

/** @param code as typed: spaces, hyphens and case do not matter */
export function recoveryDigestOf(code: string): string {
  return digestOf(code.replace(/[\s-]/g, '').toUpperCase());
}
