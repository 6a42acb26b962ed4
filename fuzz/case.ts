/** A fuzz case: an HTTP request, or bytes on a socket. It is plain data that the corpus stores as JSON, and small: large content is a
 *  repetition. Text may contain placeholders such as `{{webhook}}` for resources that every run creates (targets.ts). */

import type { Caller } from './callers.ts';
import { type Signing, signatureOf } from './providers.ts';

/** UTF-8 text, repeated text, binary data, or a pause. */
export type Piece = string | { repeat: string; times: number } | { base64: string } | { pauseMs: number };

export interface HttpCase {
  kind: 'http';
  /** The part of the service that it targets. */
  area: string;
  method: string;
  /** Path and query. */
  target: string;
  headers: [name: string, value: string][];
  body?: Piece[];
  /** Signed when it is sent. */
  signed?: Signing;
  /** Who sends it, if the response is compared with what the rule of access gives (check-access.ts). */
  caller?: Caller;
  /** Whether a request to a webhook with a provider must be taken for the provider's. */
  expects?: 'genuine' | 'forged';
}

/** Raw bytes that no HTTP library sends. */
export interface WireCase {
  kind: 'wire';
  area: string;
  bytes: Piece[];
}

export type Case = HttpCase | WireCase;

/** Values of the placeholders in `{{…}}`. */
export type Names = Readonly<Record<string, string>>;

/** Replaces placeholders. `{{repeat:3:a&}}` becomes `a&a&a&`. Unknown placeholders stay as they are. */
export function fillNames(text: string, names: Names): string {
  if (!text.includes('{{')) return text;
  return text
    .replace(/\{\{([\w:-]+)\}\}/g, (whole, name) => names[name] ?? whole)
    .replace(/\{\{repeat:(\d{1,5}):([^{}]{1,20})\}\}/g, (_, times, part) => part.repeat(Number(times)));
}

export function bytesOf(piece: Exclude<Piece, { pauseMs: number }>, names: Names): Buffer {
  if (typeof piece === 'string') return Buffer.from(fillNames(piece, names));
  if ('base64' in piece) return Buffer.from(piece.base64, 'base64');
  return Buffer.from(fillNames(piece.repeat, names).repeat(piece.times));
}

export function isPause(piece: Piece): piece is { pauseMs: number } {
  return typeof piece === 'object' && 'pauseMs' in piece;
}

/** The complete body of a request. */
export function bodyOf({ body = [] }: HttpCase, names: Names): Buffer {
  return Buffer.concat(body.flatMap((piece) => (isPause(piece) ? [] : [bytesOf(piece, names)])));
}

/** What to write to the socket, in order: bytes, and pauses in milliseconds. */
export function socketWrites(one: Case, names: Names): (Buffer | number)[] {
  if (one.kind === 'wire') return one.bytes.map((piece) => (isPause(piece) ? piece.pauseMs : bytesOf(piece, names)));
  const body = bodyOf(one, names);
  const given = headersOf(one, body, names);
  const has = (wanted: string) => given.some(([name]) => name.toLowerCase() === wanted);
  const lines = [
    `${one.method} ${fillNames(one.target, names)} HTTP/1.1`,
    ...(has('host') ? [] : [`Host: ${names.host}`]),
    ...given.map(([name, value]) => `${name}: ${value}`),
    ...(one.body === undefined || has('content-length') ? [] : [`Content-Length: ${body.length}`]),
    'Connection: close',
  ];
  return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...(body.length > 0 ? [body] : [])];
}

/** Filled in, and signed. */
export function headersOf({ headers, signed, target }: HttpCase, body: Buffer, names: Names): [string, string][] {
  const signature = signed ? signatureOf(signed, fillNames(target, names), body, names.host ?? '', Date.now()) : [];
  const own = headers.filter(([name]) => !signature.some(([other]) => other === name));
  return [...own, ...signature].map(([name, value]) => [headerText(name), headerText(fillNames(value, names))]);
}

/** A header without line breaks; wire cases cover those. */
function headerText(text: string): string {
  return text.replace(/[\r\n]/g, ' ');
}
