/** Decodes signatures and keys. Node's own decoders skip what they do not know, so that many texts stand for one signature: a replay could pass as
 *  another request by a changed text. */
import type { SIGNATURE_ENCODINGS } from '../preset.ts';

export type SignatureEncoding = (typeof SIGNATURE_ENCODINGS)[number];

/** undefined: an encoder does not write such a text. Hexadecimal digits may be in upper case, and the padding of base64 may be absent. */
export function bytesOf(text: string, encoding: SignatureEncoding): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  const written = bytes.toString(encoding);
  const isSame = encoding === 'hex' ? written === text.toLowerCase() : unpadded(written) === unpadded(text);
  return isSame && bytes.length > 0 ? bytes : undefined;
}

function unpadded(text: string): string {
  return text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
}
