/** Decodes compressed bodies, within a bound: a few bytes can decompress to gigabytes. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { ResponseTooLarge } from './http-agent.ts';

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip) as Decoder,
  'x-gzip': promisify(gunzip) as Decoder,
  deflate: promisify(inflate) as Decoder,
  br: promisify(brotliDecompress) as Decoder,
  zstd: promisify(zstdDecompress) as Decoder,
};
const MAX_ENCODINGS = 3;

/** @param encodings header `content-encoding`; unknown encodings leave the body unchanged
 *  @throws ResponseTooLarge, or the error of the decoder */
export async function decoded(body: Buffer, encodings: string, maxBytes: number): Promise<Buffer> {
  const names = encodings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (body.length === 0 || names.length > MAX_ENCODINGS || names.some((name) => !Object.hasOwn(DECODERS, name)))
    return body;
  let bytes = body;
  for (const name of names.reverse()) {
    try {
      bytes = await (DECODERS[name] as Decoder)(bytes, { maxOutputLength: maxBytes });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
      throw new ResponseTooLarge(`more than ${maxBytes} bytes when decompressed`);
    }
  }
  return bytes;
}
