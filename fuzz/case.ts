/** One attack: an HTTP request, or bytes on a socket. It is plain data, so that the corpus holds it as JSON, and small: what is huge is
 *  said by a repetition. Text may name things of the service as `{{webhook}}` (targets.ts), which every run makes anew. */

/** UTF-8 text, text many times, any bytes, or a moment in which nothing is sent. */
export type Piece = string | { repeat: string; times: number } | { base64: string } | { pauseMs: number };

export interface HttpCase {
  kind: 'http';
  /** What it attacks, in a word or two. */
  area: string;
  method: string;
  /** Path and query. */
  target: string;
  headers: [name: string, value: string][];
  body?: Piece[];
}

/** Bytes as they are: what no HTTP library would send. */
export interface WireCase {
  kind: 'wire';
  area: string;
  bytes: Piece[];
}

export type Case = HttpCase | WireCase;

/** Values of the names in `{{…}}`. */
export type Names = Readonly<Record<string, string>>;

/** `{{repeat:3:a&}}` is `a&a&a&`. Names that are not known stay as they are: they are hostile enough. */
export function filled(text: string, names: Names): string {
  if (!text.includes('{{')) return text;
  return text
    .replace(/\{\{([\w:-]+)\}\}/g, (whole, name) => names[name] ?? whole)
    .replace(/\{\{repeat:(\d{1,5}):([^{}]{1,20})\}\}/g, (_, times, part) => part.repeat(Number(times)));
}

export function bytesOf(piece: Exclude<Piece, { pauseMs: number }>, names: Names): Buffer {
  if (typeof piece === 'string') return Buffer.from(filled(piece, names));
  if ('base64' in piece) return Buffer.from(piece.base64, 'base64');
  return Buffer.from(filled(piece.repeat, names).repeat(piece.times));
}

export function isPause(piece: Piece): piece is { pauseMs: number } {
  return typeof piece === 'object' && 'pauseMs' in piece;
}

/** The body of a request, whole. */
export function bodyOf({ body = [] }: HttpCase, names: Names): Buffer {
  return Buffer.concat(body.flatMap((piece) => (isPause(piece) ? [] : [bytesOf(piece, names)])));
}

/** What goes over the socket, in turn: bytes, and milliseconds to wait. */
export function wireOf(one: Case, names: Names): (Buffer | number)[] {
  if (one.kind === 'wire') return one.bytes.map((piece) => (isPause(piece) ? piece.pauseMs : bytesOf(piece, names)));
  const body = bodyOf(one, names);
  const given = one.headers.map(([name, value]) => [headerText(name), headerText(filled(value, names))] as const);
  const has = (wanted: string) => given.some(([name]) => name.toLowerCase() === wanted);
  const lines = [
    `${one.method} ${filled(one.target, names)} HTTP/1.1`,
    ...(has('host') ? [] : [`Host: ${names.host}`]),
    ...given.map(([name, value]) => `${name}: ${value}`),
    ...(one.body === undefined || has('content-length') ? [] : [`Content-Length: ${body.length}`]),
    'Connection: close',
  ];
  return [Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...(body.length > 0 ? [body] : [])];
}

/** Of one line: what would end it is for cases of bytes. */
function headerText(text: string): string {
  return text.replace(/[\r\n]/g, ' ');
}
