/** `tidegate keys`: event keys, API keys and signing keys. */
import { type Command, Option } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import { confirm } from '../confirm.ts';
import type { Context } from '../context.ts';
import { at } from '../list-options.ts';
import type { Output } from '../output.ts';
import { masked, printCreated } from '../secrets.ts';

const PRODUCTION = 'production';
const PATHS = { event: '/v1/event-keys', api: '/v1/api-keys' } as const;
type Kind = keyof typeof PATHS;
const KINDS = Object.keys(PATHS) as Kind[];

export function register(program: Command, context: Context): void {
  const keys = program
    .command('keys')
    .summary('list, create and revoke event keys and API keys; show and rotate signing keys')
    .description('Event keys let senders send, API keys open the REST API, signing keys authenticate apps and calls.');
  registerList(keys, context);
  registerCreate(keys, context);
  registerDelete(keys, context);
  registerSigning(keys, context);
}

function registerList(keys: Command, context: Context): void {
  keys
    .command('list')
    .alias('ls')
    .description('Lists event keys and API keys; never their secrets.')
    .addOption(new Option('--kind <kind>', 'these alone').choices(KINDS))
    .action(async ({ kind }: { kind?: Kind }) => {
      const kinds = kind ? [kind] : KINDS;
      const found = (await Promise.all(kinds.map((one) => keysOf(context.api(), one)))).flat();
      const output = context.output();
      const rows = found.map((key) => [
        key.kind,
        key.id,
        key.name,
        key.environment ?? 'all',
        key.access,
        `…${key.hint}`,
        key.last_used_at,
      ]);
      output.result(found, () =>
        output.table(['KIND', 'ID', 'NAME', 'ENVIRONMENT', 'ACCESS', 'SECRET', 'LAST USED'], rows, 'No keys.'),
      );
    });
}

function registerCreate(keys: Command, context: Context): void {
  const create = keys.command('create').description('Creates a key, and shows its secret once.');
  create
    .command('event')
    .description('Creates an event key, with which programs send events to the environment of --env.')
    .argument('<name>', 'for people: who uses it')
    .action(async (name: string) => {
      const environment = context.settings().environment ?? PRODUCTION;
      const { data } = await context.api().post(PATHS.event, { name, environment });
      printCreated(context.output(), data, 'event key');
    });
  create
    .command('api')
    .description('Creates an API key; with --env it opens this environment alone.')
    .argument('<name>', 'for people: who uses it')
    .addOption(new Option('--access <access>', 'what it may do').choices(['read', 'write', 'admin']).default('read'))
    .action(async (name: string, { access }: { access: string }) => {
      const { environment = null } = context.settings();
      const { data } = await context.api().post(PATHS.api, { name, access, environment });
      printCreated(context.output(), data, 'API key');
    });
}

function registerDelete(keys: Command, context: Context): void {
  keys
    .command('delete')
    .description('Revokes a key: requests with it are rejected from then on.')
    .argument('<id>')
    .option('-y, --yes', 'do not ask')
    .action(async (id: string, { yes }: { yes?: boolean }) => {
      const api = context.api();
      const found = (await Promise.all(KINDS.map((kind) => keysOf(api, kind)))).flat().find((key) => key.id === id);
      const kind: Kind = found?.kind ?? 'event';
      if (found) await confirm(context, `Revoke the ${kind === 'api' ? 'API' : kind} key ${found.name}?`, yes);
      await api.delete(`${PATHS[kind]}/${encodeURIComponent(id)}`);
      const output = context.output();
      output.result(null, () => output.line(`Revoked ${found?.name ?? id}.`));
    });
}

function registerSigning(keys: Command, context: Context): void {
  const pathOf = () => at`/v1/environments/${context.settings().environment ?? PRODUCTION}/signing-key`;
  const signing = keys
    .command('signing')
    .description('The signing key of the environment of --env; "branches" is that of all branches.');
  signing
    .command('get')
    .description('Shows the last characters of the signing key.')
    .option('--show', 'the whole key, for the settings of an app')
    .action(async ({ show }: { show?: boolean }) => {
      const { data } = await context.api().get(pathOf());
      if (show) printWhole(context.output(), data);
      else printMasked(context.output(), data);
    });
  signing
    .command('rotate')
    .description('Makes a new signing key and shows it once. The current one becomes the fallback.')
    .option('-y, --yes', 'do not ask')
    .action(async ({ yes }: { yes?: boolean }) => {
      await confirm(context, 'Rotate the signing key? Its previous fallback becomes invalid.', yes);
      const { data } = await context.api().post(`${pathOf()}/rotate`);
      printWhole(context.output(), { ...data, fallback: masked(data.fallback) });
    });
}

/** The key is alone on stdout, for `$(…)` and files. */
function printWhole(output: Output, key: Json): void {
  output.result(key, () => {
    output.note(`The signing key of ${key.environment}:`);
    output.line(key.current);
  });
}

function printMasked(output: Output, key: Json): void {
  const shown = { ...key, current: masked(key.current), fallback: masked(key.fallback) };
  output.result(shown, () => {
    const { environment, current, fallback, given } = shown;
    output.fields({
      environment,
      'signing key': current,
      fallback,
      from: given ? 'the setting SIGNING_KEY' : undefined,
    });
  });
}

async function keysOf(api: ApiClient, kind: Kind): Promise<Json[]> {
  return (await api.all(PATHS[kind])).map((key) => ({ kind, ...key }));
}
