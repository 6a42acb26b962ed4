/** The variables of the official SDKs: which variables to set, and to which values, so that an app uses this service. */
import type { ApiClient } from '../api-client.ts';
import { at } from '../list-options.ts';

const PRODUCTION = 'production';

export interface Variable {
  name: string;
  /** undefined: to be filled in. */
  value?: string | undefined;
  isSecret?: boolean;
  note?: string;
}

/** The new meaning of a variable that the app already has. */
export const MEANING: Record<string, string> = {
  INNGEST_BASE_URL: 'set it to the address of this service',
  INNGEST_DEV: 'set it to the address of a service in dev mode; unset it in production',
  INNGEST_EVENT_KEY: 'an event key of this service',
  INNGEST_SIGNING_KEY: 'the signing key of this service',
  INNGEST_SIGNING_KEY_FALLBACK: 'unset it; the former key of this service while its signing key is rotated',
  INNGEST_ENV: 'the name of a branch environment; unset it for production',
  INNGEST_API_BASE_URL: 'unset it, or set it to the address of this service: it comes before INNGEST_BASE_URL',
  INNGEST_EVENT_API_BASE_URL: 'unset it, or set it to the address of this service: it comes before INNGEST_BASE_URL',
  INNGEST_API_ORIGIN: 'unset it, or set it to the address of this service: it comes before INNGEST_BASE_URL',
  INNGEST_EVENT_API_ORIGIN: 'unset it, or set it to the address of this service: it comes before INNGEST_BASE_URL',
  INNGEST_SERVE_ORIGIN: 'stays as it is',
  INNGEST_SERVE_HOST: 'stays as it is',
  INNGEST_SERVE_PATH: 'stays as it is',
  INNGEST_STREAMING: 'stays as it is',
  INNGEST_LOG_LEVEL: 'stays as it is',
};
export const UNKNOWN = 'of the app itself, or of a feature: see docs/compatibility.md';

export async function isDevMode(api: ApiClient): Promise<boolean> {
  return (await api.get('/health')).body?.mode === 'dev';
}

export interface VariableOptions {
  dev: boolean;
  /** Make an event key with this name, and read the signing key; undefined: neither. */
  keyName: string | undefined;
}

/** @throws CliError if keys are wanted, and the API key has no admin access */
export async function variablesFor(api: ApiClient, { dev, keyName }: VariableOptions): Promise<Variable[]> {
  const { url, environment = PRODUCTION } = api.settings;
  if (dev) return [{ name: 'INNGEST_DEV', value: url, note: 'dev mode needs no keys' }];
  const variables: Variable[] = [{ name: 'INNGEST_BASE_URL', value: url }];
  const isBranch = environment !== PRODUCTION && (await isBranchEnvironment(api, environment));
  if (isBranch) variables.push({ name: 'INNGEST_ENV', value: environment });
  if (keyName === undefined) {
    const option = environment === PRODUCTION ? '' : ` --env ${environment}`;
    return [
      ...variables,
      { name: 'INNGEST_EVENT_KEY', isSecret: true, note: `tidegate keys create event <name>${option}, or --create` },
      { name: 'INNGEST_SIGNING_KEY', isSecret: true, note: `tidegate keys signing get --show${option}, or --create` },
    ];
  }
  const owner = isBranch ? 'branches' : environment;
  // Done first, because it needs the same access and creates nothing.
  const { data: signingKey } = await api.get(at`/v1/environments/${owner}/signing-key`);
  const { data: eventKey } = await api.post('/v1/event-keys', { name: keyName, environment: owner });
  return [
    ...variables,
    { name: 'INNGEST_EVENT_KEY', value: eventKey.secret, isSecret: true },
    { name: 'INNGEST_SIGNING_KEY', value: signingKey.current, isSecret: true },
  ];
}

async function isBranchEnvironment(api: ApiClient, name: string): Promise<boolean> {
  return (await api.get(at`/v1/environments/${name}`)).data.kind === 'branch';
}

/** As lines of a .env file. */
export function toDotEnv(variables: readonly Variable[]): string {
  return variables
    .map(
      ({ name, value, note }) =>
        `${note === undefined ? '' : `# ${note}\n`}${value === undefined ? '# ' : ''}${name}=${value ?? ''}\n`,
    )
    .join('');
}
