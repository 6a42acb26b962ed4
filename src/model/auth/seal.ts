/** Encrypts secrets that only the service may read: AES-256-GCM with a key derived from the setting SECRET_KEY, bound to the location of the
 *  ciphertext. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** A secret as it is stored: sealed for its location. */
export interface SealedSecret {
  id: string;
  sealed: string;
  /** Unix milliseconds. */
  addedAt: number;
  /** End of its validity; absent: none. */
  until?: number | undefined;
}

interface Key {
  /** Identifies the secret without revealing it. */
  id: string;
  bytes: Buffer;
}

/** The text cannot be opened: sealed with another secret, for another location, or not sealed at all. */
export class SealError extends Error {
  override name = 'SealError';
}

export class Sealer {
  readonly #current: Key;
  readonly #all: Key[];

  /** @param fallback the previous secret, which can still decrypt */
  constructor(secret: string, fallback: string | undefined) {
    this.#current = keyFrom(secret);
    this.#all = [this.#current, ...(fallback === undefined ? [] : [keyFrom(fallback)])];
  }

  /** `v1.<key id>.<iv, tag and ciphertext>`.
   *  @param location additional authenticated data: the text opens only with the same location */
  seal(text: string, location: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#current.bytes, iv).setAAD(Buffer.from(location));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return [VERSION, this.#current.id, Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')].join(
      '.',
    );
  }

  /** @throws SealError if neither secret sealed it, or not for this location */
  open(sealed: string, location: string): string {
    const [version, id, content = ''] = sealed.split('.');
    const key = this.#all.find((candidate) => candidate.id === id);
    if (version !== VERSION || !key)
      throw new SealError('sealed under another SECRET_KEY: set SECRET_KEY_FALLBACK to it');
    const bytes = Buffer.from(content, 'base64url');
    const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(location))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([opened, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SealError(`not sealed for ${location}`, { cause });
    }
  }

  /** undefined instead of a SealError. */
  tryOpen(sealed: string, location: string): string | undefined {
    try {
      return this.open(sealed, location);
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }

  /** Whether it is sealed with the current key. */
  isCurrent(sealed: string): boolean {
    return sealed.split('.')[1] === this.#current.id;
  }

  /** Re-encrypts it with the current key. What neither key decrypts stays unchanged. */
  reencrypted(sealed: string, location: string): string {
    const opened = this.isCurrent(sealed) ? undefined : this.tryOpen(sealed, location);
    return opened === undefined ? sealed : this.seal(opened, location);
  }
}

function keyFrom(secret: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'tidegate seal v1', 32));
  return { id: createHash('sha256').update('id').update(bytes).digest('hex').slice(0, 8), bytes };
}
