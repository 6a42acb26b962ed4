/** Parses a pasted sample: a body, an HTTP request as in a proxy or log, or a curl command. */
import { parseHeaderLines, type Sample } from './sample.ts';

const REQUEST_LINE = /^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(\S+)(?:\s+HTTP\/[\d.]+)?\s*$/;
const HEADER_LINE = /^[\w-]+:\s?.*$/;

export type InputKind = 'request body' | 'HTTP request' | 'curl command' | 'headers';

export interface ParsedRequest {
  kind: InputKind;
  sample: Sample;
}

export function parseRequest(text: string): ParsedRequest {
  const trimmed = text.trim();
  if (/^(?:\$\s*)?curl\s/.test(trimmed)) return { kind: 'curl command', sample: fromCurl(trimmed) };
  const [first = ''] = trimmed.split(/\r?\n/, 1);
  if (REQUEST_LINE.test(first)) return { kind: 'HTTP request', sample: fromRequest(trimmed) };
  if (HEADER_LINE.test(first) && trimmed.split(/\r?\n/).filter((line) => HEADER_LINE.test(line)).length > 1) {
    const sample = fromHeadersAndBody(trimmed);
    return { kind: sample.body === '' ? 'headers' : 'HTTP request', sample };
  }
  return {
    kind: 'request body',
    sample: { body: trimmed, headers: { 'Content-Type': contentTypeFor(trimmed) }, query: '' },
  };
}

function fromRequest(text: string): Sample {
  const [first = '', ...rest] = text.split(/\r?\n/);
  const [, target = ''] = REQUEST_LINE.exec(first) ?? [];
  return { ...fromHeadersAndBody(rest.join('\n')), query: queryOf(target) };
}

/** Headers end at the first empty line. */
function fromHeadersAndBody(text: string): Sample {
  const gap = /\r?\n[ \t]*\r?\n/.exec(`${text}\n\n`) as RegExpExecArray;
  const body = text.slice(gap.index + gap[0].length).trim();
  const headers = parseHeaderLines(text.slice(0, gap.index));
  delete headers.Host;
  delete headers['Content-Length'];
  return {
    body,
    headers: { ...(!headers['Content-Type'] && { 'Content-Type': contentTypeFor(body) }), ...headers },
    query: '',
  };
}

const TAKES_VALUE = new Set([
  '-X',
  '--request',
  '-u',
  '--user',
  '-o',
  '--output',
  '-A',
  '--user-agent',
  '-m',
  '--max-time',
]);
const DATA = new Set(['-d', '--data', '--data-raw', '--data-binary', '--data-ascii', '--data-urlencode', '--json']);

function fromCurl(command: string): Sample {
  const words = shellWords(command.replace(/^\$\s*/, ''));
  const data: string[] = [];
  const lines: string[] = [];
  let target = '';
  let type: string | undefined;
  for (let at = 1; at < words.length; at++) {
    const [option = '', joined] = splitOption(words[at] as string);
    const value = () => joined ?? words[++at] ?? '';
    if (option === '-H' || option === '--header') lines.push(value());
    else if (option === '-A' || option === '--user-agent') lines.push(`User-Agent: ${value()}`);
    else if (DATA.has(option)) {
      if (option === '--json') type = 'application/json';
      data.push(value());
    } else if (option === '--url') target = value();
    else if (TAKES_VALUE.has(option)) value();
    else if (!option.startsWith('-')) target = option;
  }
  const body = data.join('&');
  // curl's default content type is a form, even for JSON: detect it from the body.
  return {
    body,
    headers: { 'Content-Type': type ?? contentTypeFor(body), ...parseHeaderLines(lines.join('\n')) },
    query: queryOf(target),
  };
}

/** `-XPOST`, `-HName: value` and `--data=…` contain their value. */
function splitOption(word: string): [option: string, value?: string] {
  const long = /^(--[\w-]+)=(.*)$/s.exec(word);
  if (long) return [long[1] as string, long[2] as string];
  if (/^-[XHdAu]./.test(word)) return [word.slice(0, 2), word.slice(2)];
  return [word];
}

/** Splits like a POSIX shell: quotes, `$'…'`, backslashes, line continuations. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  const part = /\$'((?:[^'\\]|\\.)*)'|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(\r?\n)|\\(.)|([^\s'"\\$]+|\$)|(\s+)/gsu;
  let word: string | undefined;
  for (const [, ansi, single, double, continuation, escaped, plain, space] of text.matchAll(part)) {
    if (space !== undefined || continuation !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word =
      (word ?? '') +
      (unescapeAnsi(ansi) ?? single ?? double?.replace(/\\(["\\$`\n])/g, '$1') ?? escaped ?? plain ?? '');
  }
  if (word !== undefined) words.push(word);
  return words;
}

const ANSI: Record<string, string> = { n: '\n', r: '\r', t: '\t' };

function unescapeAnsi(text: string | undefined): string | undefined {
  return text?.replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs, (_, u?: string, x?: string, char = '') =>
    u || x ? String.fromCharCode(Number.parseInt((u ?? x) as string, 16)) : (ANSI[char] ?? char),
  );
}

function queryOf(target: string): string {
  const [, query = ''] = target.split('#', 1)[0]?.split(/\?(.*)/s) ?? [];
  return query;
}

function contentTypeFor(body: string): string {
  try {
    JSON.parse(body);
    return 'application/json';
  } catch {
    return /^[^\s=&{}[\]"]+=[^\s]*$/.test(body) ? 'application/x-www-form-urlencoded' : 'application/json';
  }
}
