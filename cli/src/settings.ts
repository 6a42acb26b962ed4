/** Which service, environment and key the commands use: from the options, or from the variables that the clients read too. */
import { usageError } from './exit-codes.ts';

const DEV_URL = 'http://127.0.0.1:8288';

export interface Settings {
  /** URL without a trailing slash. */
  url: string;
  /** Source of the URL, for messages: `--url`, a variable, or `default`. */
  urlFrom: string;
  apiKey: string | undefined;
  eventKey: string | undefined;
  /** undefined: production, or the environment of the key. */
  environment: string | undefined;
}

export interface GlobalOptions {
  url?: string;
  apiKey?: string;
  eventKey?: string;
  env?: string;
  json?: boolean;
  color?: boolean;
}

type Variables = Record<string, string | undefined>;

/** @throws CliError */
export function readSettings(options: GlobalOptions, variables: Variables): Settings {
  return {
    ...readUrl(options, variables),
    apiKey: options.apiKey || variables.TIDEGATE_API_KEY || undefined,
    eventKey: options.eventKey || variables.TIDEGATE_EVENT_KEY || variables.SERVICE_EVENT_KEY || undefined,
    environment: options.env || variables.TIDEGATE_ENV || variables.SERVICE_ENV || undefined,
  };
}

function readUrl(options: GlobalOptions, { TIDEGATE_URL, SERVICE_DEV = '', SERVICE_BASE_URL }: Variables) {
  const candidates: [string, string | undefined][] = [
    ['--url', options.url],
    ['TIDEGATE_URL', TIDEGATE_URL],
    ['SERVICE_DEV', /^https?:/.test(SERVICE_DEV) ? SERVICE_DEV : undefined],
    ['SERVICE_BASE_URL', SERVICE_BASE_URL],
  ];
  const [urlFrom, url] = candidates.find(([, value]) => value) ?? ['default', DEV_URL];
  if (!/^https?:\/\//.test(url as string) || !URL.canParse(url as string)) {
    throw usageError(`${urlFrom} is not an http(s) address: ${JSON.stringify(url)}`, `Give one such as ${DEV_URL}`);
  }
  const { origin, pathname } = new URL(url as string);
  return { url: origin + pathname.replace(/\/+$/, ''), urlFrom };
}
