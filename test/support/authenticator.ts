/** An authenticator of passkeys in software, and the browser that asks it; both can lie. */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_KEY = 0x40;

interface Options {
  challenge: string;
  rp?: { id: string };
  rpId?: string;
}

export interface PasskeyLie {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  counter?: number;
  /** Neither touched nor verified. */
  absent?: boolean;
  /** Signs with this key. */
  key?: KeyObject;
  id?: string;
}

export class Authenticator {
  readonly id: string = randomBytes(16).toString('base64url');
  readonly keys: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #origin: string;
  #counter = 0;

  /** @param origin of the page that asks */
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The browser's response to options of a new passkey, as text. */
  create(options: Options, lie: PasskeyLie = {}): string {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' });
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.from([0, id.length]);
    // COSE: an EC2 key (2) for ES256 (-7) on P-256 (1).
    const key = Buffer.concat([
      Buffer.from('a5010203262001215820', 'hex'),
      Buffer.from(x as string, 'base64url'),
      Buffer.from('225820', 'hex'),
      Buffer.from(y as string, 'base64url'),
    ]);
    const data = Buffer.concat([
      this.#data(lie.rpId ?? options.rp?.id ?? '', lie, HAS_KEY),
      Buffer.alloc(16),
      length,
      id,
      key,
    ]);
    // CBOR: {fmt: "none", attStmt: {}, authData: bytes}.
    const attestation = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746159', 'hex'),
      Buffer.from([data.length >> 8, data.length & 0xff]),
      data,
    ]);
    return this.#response(lie, {
      clientDataJSON: this.#client('webauthn.create', options, lie),
      attestationObject: attestation.toString('base64url'),
      transports: ['internal'],
    });
  }

  /** The browser's response to options of a sign-in, as text. */
  get(options: Options, lie: PasskeyLie = {}): string {
    this.#counter++;
    const clientDataJSON = this.#client('webauthn.get', options, lie);
    const data = this.#data(lie.rpId ?? options.rpId ?? '', lie, 0);
    const digest = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest();
    const signature = createSign('sha256')
      .update(Buffer.concat([data, digest]))
      .sign(lie.key ?? this.keys.privateKey);
    return this.#response(lie, {
      clientDataJSON,
      authenticatorData: data.toString('base64url'),
      signature: signature.toString('base64url'),
    });
  }

  #data(rpId: string, { counter = this.#counter, absent }: PasskeyLie, flags: number): Buffer {
    const data = Buffer.alloc(37);
    createHash('sha256').update(rpId).digest().copy(data);
    data.writeUInt8(flags | (absent ? VERIFIED : PRESENT), 32);
    data.writeUInt32BE(counter, 33);
    return data;
  }

  #client(type: string, { challenge }: Options, lie: PasskeyLie): string {
    const origin = this.#origin;
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false, ...only(lie) })).toString(
      'base64url',
    );
  }

  #response({ id = this.id }: PasskeyLie, response: object): string {
    return JSON.stringify({ id, rawId: id, type: 'public-key', response, clientExtensionResults: {} });
  }
}

function only({ origin, challenge, type }: PasskeyLie) {
  return { ...(origin && { origin }), ...(challenge && { challenge }), ...(type && { type }) };
}
