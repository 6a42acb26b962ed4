/** Decodes signatures and keys strictly. Node's decoders skip unknown characters, so many texts would decode to one
 *  signature, and a replay with a changed text could pass as another request. */
import type { SIGNATURE_ENCODINGS } from '../preset.ts';

export type SignatureEncoding = (typeof SIGNATURE_ENCODINGS)[number];

/** undefined if no encoder would produce the text. Hexadecimal digits may be in upper case, and base64 padding may be absent. */
export function bytesOf(text: string, encoding: SignatureEncoding): Buffer | undefined {
  const bytes = Buffer.from(text, encoding);
  const written = bytes.toString(encoding);
  const isSame = encoding === 'hex' ? written === text.toLowerCase() : unpadded(written) === unpadded(text);
  return isSame && bytes.length > 0 ? bytes : undefined;
}

function unpadded(text: string): string {
  return text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text;
}
