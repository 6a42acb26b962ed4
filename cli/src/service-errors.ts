/** Errors of the service, and what to do about them. */
import { CliError, EXIT } from './exit-codes.ts';
import type { Settings } from './settings.ts';

interface Failed {
  method: string;
  path: string;
  response: Response;
  /** Parsed, or the text of something that is not the service. */
  body: unknown;
}

export function serviceError({ method, path, response, body }: Failed, settings: Settings): CliError {
  const { error, code } = (typeof body === 'object' && body ? body : {}) as { error?: unknown; code?: unknown };
  const { status } = response;
  if (typeof error !== 'string') {
    const location = response.headers.get('location');
    return new CliError(
      `${settings.url} answered ${method} ${withoutKey(path)} with status ${status}, and not as Tidegate does`,
      {
        hint: location
          ? `It redirects to ${location}: give the address of the service (${settings.urlFrom})`
          : `Check the address of the service (${settings.urlFrom})`,
      },
    );
  }
  const message = code === undefined ? error : `${error} (${code})`;
  return new CliError(message, {
    exitCode: exitCodeOf(status),
    hint: hintOf(response, code, settings),
    answer: body as Record<string, unknown>,
  });
}

export function unreachable({ url, urlFrom }: Settings, error: unknown): CliError {
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  const from = urlFrom === 'default' ? 'the default: set TIDEGATE_URL, or --url' : `from ${urlFrom}`;
  if (isOfTls(error)) {
    return new CliError(`No secure connection to ${url}: ${reasonOf(error)}`, {
      exitCode: EXIT.unreachable,
      hint: `The address is ${from}. Its certificate must be valid for this name and known to this machine (NODE_EXTRA_CA_CERTS names a file of others); a server without TLS has an address with http://`,
    });
  }
  return new CliError(`No service answers at ${url}: ${isTimeout ? 'no response in time' : reasonOf(error)}`, {
    exitCode: EXIT.unreachable,
    hint: `The address is ${from}. Start a service on this machine with: tidegate dev`,
  });
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return EXIT.notAuthorized;
  if (status === 404) return EXIT.notFound;
  return status === 503 || status === 504 ? EXIT.unreachable : EXIT.failed;
}

function hintOf(response: Response, code: unknown, { apiKey, urlFrom, url }: Settings): string | undefined {
  const { status } = response;
  if (code === 'key_unknown') return 'Set TIDEGATE_EVENT_KEY to an event key of this service';
  if (status === 401 && !apiKey) {
    return `Set TIDEGATE_API_KEY: an admin creates one with "tidegate keys create api", or in the dashboard (${url}/keys?tab=api-keys)`;
  }
  if (status === 401) return `Check the API key, and that it belongs to ${url} (${urlFrom})`;
  const after = response.headers.get('retry-after');
  return after ? `Try again in ${after} s` : undefined;
}

/** Codes of Node and of OpenSSL about certificates and handshakes. */
function isOfTls(error: unknown): boolean {
  const code = String((error as { cause?: { code?: unknown } }).cause?.code);
  return /^ERR_(TLS|SSL)_|CERT|^UNABLE_TO_|^(HOSTNAME_MISMATCH|EPROTO)$/.test(code);
}

/** fetch says "fetch failed", and why in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.message || cause?.code || (error instanceof Error ? error.message : String(error));
}

/** An event key is a part of the path. */
function withoutKey(path: string): string {
  return path.replace(/^\/e\/.*/, '/e/<key>');
}
