/** What must be readable to the service alone: AES-256-GCM under a key derived from the setting SECRET_KEY, bound to the place it is kept in. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const FORM = 'v1';

interface Key {
  /** Tells which secret sealed, and nothing of it. */
  id: string;
  bytes: Buffer;
}

/** It cannot be opened: sealed under another secret, for another place, or not by a sealer. */
export class SealError extends Error {
  override name = 'SealError';
}

export class Sealer {
  readonly #current: Key;
  readonly #all: Key[];

  /** @param fallback the former secret: what it sealed is opened too */
  constructor(secret: string, fallback: string | undefined) {
    this.#current = keyFrom(secret);
    this.#all = [this.#current, ...(fallback === undefined ? [] : [keyFrom(fallback)])];
  }

  /** `v1.<key id>.<iv, tag and ciphertext>`.
   *  @param place what is sealed for one place does not open in another */
  seal(text: string, place: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#current.bytes, iv).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return [FORM, this.#current.id, Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')].join('.');
  }

  /** @throws SealError when neither secret sealed it, or it was not sealed for this place */
  open(sealed: string, place: string): string {
    const [form, id, content = ''] = sealed.split('.');
    const key = this.#all.find((one) => one.id === id);
    if (form !== FORM || !key) throw new SealError('sealed under another SECRET_KEY: set SECRET_KEY_FALLBACK to it');
    const bytes = Buffer.from(content, 'base64url');
    const decipher = createDecipheriv(CIPHER, key.bytes, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const opened = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([opened, decipher.final()]).toString('utf8');
    } catch (cause) {
      throw new SealError(`not what was sealed for ${place}`, { cause });
    }
  }

  /** Whether it would be sealed under the same key today. */
  isCurrent(sealed: string): boolean {
    return sealed.split('.')[1] === this.#current.id;
  }
}

function keyFrom(secret: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'tidegate seal v1', 32));
  return { id: createHash('sha256').update('id').update(bytes).digest('hex').slice(0, 8), bytes };
}
