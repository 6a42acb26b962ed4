/** Runs in a thread: parsing 25 MB takes about 200 ms, which would delay every other request. */
import { hash } from 'node:crypto';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { pickFields } from '../../model/webhooks/large-bodies.ts';
import { bodyOf, toTransformRequest } from './webhook-request.ts';

export interface LargeBodyTask {
  body: Uint8Array;
  contentType: string | undefined;
  /** Paths of the fields for the transform, and for verification and handshakes. */
  fields: readonly string[];
  providerFields: readonly string[];
}

export interface ParsedLargeBody {
  /** JSON. */
  fields: string;
  /** JSON. */
  providerFields: string;
  sha256: string;
}

export interface UnreadableLargeBody {
  code: ErrorCode;
  detail: string;
}

export default async function parse({
  body,
  contentType,
  fields,
  providerFields,
}: LargeBodyTask): Promise<ParsedLargeBody | UnreadableLargeBody> {
  try {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const value = bodyOf(await toTransformRequest(bytes, { 'content-type': contentType }, ''));
    return {
      fields: JSON.stringify(pickFields(value, fields)),
      providerFields: JSON.stringify(pickFields(value, providerFields)),
      sha256: hash('sha256', bytes, 'hex'),
    };
  } catch (error) {
    // Errors lose their class on the way out of a thread.
    if (error instanceof ServiceError) return { code: error.code, detail: error.message };
    throw error;
  }
}
