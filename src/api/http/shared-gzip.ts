/** A gzip stream whose parts are compressed once for many clients. Each part ends with a full flush and refers to nothing before it, so the
 *  same bytes fit into every stream, and no client needs memory for a compressor. No text is compressed together with earlier texts, so an
 *  attacker who sends texts and watches lengths gets one guess per message (compression.ts). */
import { PassThrough } from 'node:stream';
import { constants, crc32, deflateRawSync } from 'node:zlib';

/** Header of a gzip member without name and time. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** An empty last block. */
const LAST_BLOCK = Buffer.from([3, 0]);

/** A text for many clients. */
export class SharedPart {
  readonly text: Buffer;
  #compressed: Buffer | undefined;

  constructor(text: string) {
    this.text = Buffer.from(text);
  }

  get compressed(): Buffer {
    this.#compressed ??= deflateRawSync(this.text, { finishFlush: constants.Z_FULL_FLUSH });
    return this.#compressed;
  }
}

/** Response of one client: the parts, plain or as one gzip stream. */
export class PartStream extends PassThrough {
  readonly #gzip: boolean;
  readonly #maxBufferedBytes: number;
  #crc = 0;
  #bytes = 0;

  /** @param maxBufferedBytes a client that reads more slowly is disconnected */
  constructor({ gzip, maxBufferedBytes }: { gzip: boolean; maxBufferedBytes: number }) {
    super();
    this.#gzip = gzip;
    this.#maxBufferedBytes = maxBufferedBytes;
    if (gzip) this.write(HEADER);
  }

  send(part: SharedPart): void {
    if (this.writableEnded) return;
    if (this.writableLength + this.readableLength > this.#maxBufferedBytes) {
      this.destroy();
      return;
    }
    this.write(this.#gzip ? part.compressed : part.text);
    if (!this.#gzip) return;
    this.#crc = crc32(part.text, this.#crc);
    this.#bytes = (this.#bytes + part.text.length) % 2 ** 32;
  }

  /** Ends the response. */
  finish(): void {
    if (!this.#gzip || this.writableEnded) return void this.end();
    const checksum = Buffer.alloc(8);
    checksum.writeUInt32LE(this.#crc, 0);
    checksum.writeUInt32LE(this.#bytes, 4);
    this.end(Buffer.concat([LAST_BLOCK, checksum]));
  }
}
