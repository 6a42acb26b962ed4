/** Rows in Postgres's binary COPY format: https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.3.55.9.4 */
import { writeId } from '../model/ids.ts';

const HEADER = Buffer.from('5047434f50590aff0d0a000000000000000000', 'hex');
const TRAILER = Buffer.from('ffff', 'hex');
const INITIAL_BYTES = 65_536;
const UUID_OID = 2950;

export class CopyBuffer {
  #bytes = Buffer.allocUnsafe(INITIAL_BYTES);
  #length = 0;
  rows = 0;

  constructor() {
    this.#length = HEADER.copy(this.#bytes);
  }

  /** Begins a row; its columns follow in order. */
  row(columns: number): this {
    this.rows++;
    this.#reserve(2);
    this.#length = this.#bytes.writeInt16BE(columns, this.#length);
    return this;
  }

  null(): this {
    return this.#size(-1, 0);
  }

  smallint(value: number): this {
    this.#size(2, 2);
    this.#length = this.#bytes.writeInt16BE(value, this.#length);
    return this;
  }

  integer(value: number | undefined): this {
    if (value === undefined) return this.null();
    this.#size(4, 4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
    return this;
  }

  bigint(value: number): this {
    this.#size(8, 8);
    this.#length = this.#bytes.writeBigInt64BE(BigInt(Math.round(value)), this.#length);
    return this;
  }

  boolean(value: boolean): this {
    this.#size(1, 1);
    this.#length = this.#bytes.writeInt8(value ? 1 : 0, this.#length);
    return this;
  }

  /** @param id a ULID */
  uuid(id: string): this {
    this.#size(16, 16);
    writeId(id, this.#bytes, this.#length);
    this.#length += 16;
    return this;
  }

  uuids(ids: readonly string[] | undefined): this {
    if (ids === undefined) return this.null();
    this.#size(20 + 20 * ids.length, 20 + 20 * ids.length);
    for (const value of [1, 0, UUID_OID, ids.length, 1]) this.#length = this.#bytes.writeInt32BE(value, this.#length);
    for (const id of ids) {
      this.#length = this.#bytes.writeInt32BE(16, this.#length);
      writeId(id, this.#bytes, this.#length);
      this.#length += 16;
    }
    return this;
  }

  /** @param value without U+0000 */
  text(value: string | undefined): this {
    if (value === undefined) return this.null();
    // At most three bytes per UTF-16 unit.
    this.#reserve(4 + 3 * value.length);
    const written = this.#bytes.write(value, this.#length + 4);
    this.#bytes.writeInt32BE(written, this.#length);
    this.#length += 4 + written;
    return this;
  }

  bytes(value: Buffer | undefined): this {
    if (value === undefined) return this.null();
    this.#size(value.length, value.length);
    this.#length += value.copy(this.#bytes, this.#length);
    return this;
  }

  /** All rows in a complete COPY message. */
  finish(): Buffer {
    this.#reserve(TRAILER.length);
    this.#length += TRAILER.copy(this.#bytes, this.#length);
    return this.#bytes.subarray(0, this.#length);
  }

  #size(size: number, following: number): this {
    this.#reserve(4 + following);
    this.#length = this.#bytes.writeInt32BE(size, this.#length);
    return this;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
