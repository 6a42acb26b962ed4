/** Calls of the web API inside an isolate to the host: hashes and the parsing of URLs. Only strings go in and out. isolated-vm's timeout
 *  does not count time that is spent here, so the host ends an isolate whose time is up. */
import { createHash, createHmac, type Hash, type Hmac, randomUUID, timingSafeEqual } from 'node:crypto';

/** '+' with the result, or '-' with the error message. */
export type HostCall = (operation: string, a: string, b: string, c: string) => string;

/** A call with this much text takes 2 to 4 ms; longer data takes several calls. */
export const CHUNK_CHARS = 131_072;
/** IDNA takes time that grows with the square of a host name that is not ASCII. */
const URL_CHARS = 16_384;
const NON_ASCII_URL_CHARS = 2_048;
const ALGORITHMS = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
const ENCODINGS = ['hex', 'base64', 'base64url', 'binary'] as const;
const SETTABLE = 'href protocol username password host hostname port pathname search hash'.split(' ');
const ASCII = /^[\0-\x7f]*$/;

/** A mistake of the caller: its message goes into the isolate. */
class Refused extends Error {}

export interface HostCalls {
  call: HostCall;
  /** Time of `performance.now()` at which the current request has to end. */
  deadline: number;
}

/** @param stop ends the isolate, which a call overran */
export function createHostCalls(stop: () => void): HostCalls {
  /** Data of a digest comes in several calls, without other calls in between. */
  let hash: Hash | Hmac | undefined;
  const operations: Record<string, HostCall> = {
    digest: (specification, key, data) => encoded(begin(specification, key, data), specification.split(' ')[3]),
    begin(specification, key, data) {
      hash = begin(specification, key, data);
      return '';
    },
    update(kind, data) {
      hash?.update(bytesOf(kind, data));
      return '';
    },
    end(encoding) {
      const finished = hash;
      hash = undefined;
      return finished ? encoded(finished, encoding) : '';
    },
    equal(kinds, a, b) {
      const [first, second] = [bytesOf(kinds.charAt(0), a), bytesOf(kinds.charAt(1), b)];
      return first.length === second.length && timingSafeEqual(first, second) ? 'true' : '';
    },
    uuid: () => randomUUID(),
    url(text, base, hasBase) {
      rejectLong(text);
      rejectLong(base);
      const parsed = URL.parse(text, hasBase ? base : undefined);
      if (!parsed) throw new Refused('Invalid URL');
      return partsOf(parsed);
    },
    'set-url'(href, name, value) {
      rejectLong(href);
      rejectLong(value);
      const url = URL.parse(href);
      if (!SETTABLE.includes(name) || !url || (name === 'href' && !URL.canParse(value))) {
        throw new Refused('Invalid URL');
      }
      url[name as 'href'] = value;
      return partsOf(url);
    },
  };

  const calls: HostCalls = {
    deadline: 0,
    call(operation, a, b, c) {
      try {
        if (performance.now() > calls.deadline) {
          stop();
          return '-';
        }
        const texts = [operation, a, b, c];
        if (!texts.every((text) => typeof text === 'string' && text.length <= CHUNK_CHARS)) return '-too long';
        if (!Object.hasOwn(operations, operation)) return '-';
        return `+${operations[operation]?.(a, b, c, '')}`;
      } catch (error) {
        return error instanceof Refused ? `-${error.message}` : '-';
      }
    },
  };
  return calls;
}

function begin(specification: string, key: string, data: string): Hash | Hmac {
  const [algorithm = '', keyKind = '', kind = ''] = specification.split(' ');
  if (!ALGORITHMS.includes(algorithm)) throw new Refused(`algorithm: expected one of ${ALGORITHMS.join(', ')}`);
  const hash = keyKind === '-' ? createHash(algorithm) : createHmac(algorithm, bytesOf(keyKind, key));
  return hash.update(bytesOf(kind, data));
}

function encoded(hash: Hash | Hmac, encoding = ''): string {
  const known = ENCODINGS.find((candidate) => candidate === encoding);
  if (!known) throw new Refused(`encoding: expected one of ${ENCODINGS.slice(0, 3).join(', ')}`);
  return hash.digest(known);
}

function bytesOf(kind: string, text: string): Buffer {
  return Buffer.from(text, kind === 'b' ? 'latin1' : 'utf8');
}

function rejectLong(url: string): void {
  const limit = ASCII.test(url) ? URL_CHARS : NON_ASCII_URL_CHARS;
  if (url.length > limit) throw new Refused(`a URL has at most ${limit} characters`);
}

function partsOf(url: URL): string {
  return JSON.stringify(Object.fromEntries([...SETTABLE, 'origin'].map((name) => [name, url[name as 'href']])));
}
