/** `tidegate import`: what other servers have. `inngest`: what an app of the official SDKs needs to run on this service. */
import { stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { ApiClient, Json } from '../api-client.ts';
import type { Context } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { register as hookdeck } from '../hookdeck/command.ts';
import { type Scan, scanFolder } from '../inngest/scan.ts';
import { isDevMode, MEANING, toDotEnv, UNKNOWN, type Variable, variablesFor } from '../inngest/variables.ts';
import { readFileOf } from '../input.ts';
import { type Output, printable } from '../output.ts';

const FILE = '.env.tidegate';

interface ImportOptions {
  app?: string;
  create?: boolean;
  write?: boolean;
  webhook?: string[];
}

export function register(program: Command, context: Context): void {
  const imports = program
    .command('import')
    .summary('bring over apps from Inngest, or connections from Hookdeck')
    .description('Brings over what another server has.');
  hookdeck(imports, context);
  imports
    .command('inngest')
    .description(
      'Looks through the folder of an app for INNGEST_ variables, addresses and the SDK, and prints what to set so that the\n' +
        'app runs on this service. Changes nothing in the folder, and nothing at Inngest.\n' +
        'With --app it registers the app, and lists what of its functions this service does not act on: then it exits with 7.',
    )
    .argument('[folder]', 'of the app', '.')
    .option('--app <url>', 'URL at which the app serves its functions, as the service reaches it: …/api/inngest')
    .option('--create', 'create an event key, and read the signing key; needs admin access')
    .option('--write', `write the variables to ${FILE} in the folder instead of printing them`)
    .option('--webhook <name=file...>', 'create a webhook with a transform that was copied from Inngest')
    .action(async (folder: string, options: ImportOptions) => {
      const api = context.api();
      const output = context.output();
      if (!(await stat(folder).catch(() => undefined))?.isDirectory()) throw usageError(`${folder} is no folder`);
      const transforms = await Promise.all((options.webhook ?? []).map(readTransform));
      const file = join(folder, FILE);
      if (options.write) await rejectExisting(file);
      const scan = await scanFolder(folder);
      const keyName = options.create ? `Imported: ${basename(resolve(folder))}` : undefined;
      const variables = await variablesFor(api, { dev: await isDevMode(api), keyName });
      // Printed before anything else can fail, because the secret of the key is shown only now.
      if (options.write) await writeFile(file, toDotEnv(variables), { mode: 0o600, flag: 'wx' });
      const shown = options.write ? variables.map(withoutSecret) : variables;
      if (!output.json) printScan(output, scan, shown, options.write ? file : undefined);
      const webhooks: Json[] = [];
      for (const body of transforms) webhooks.push(await createWebhook(api, body));
      const app = options.app === undefined ? null : await registerApp(api, options.app);
      const found = { variables: shown, scan: presentScan(scan), webhooks, app };
      output.result(found, () => printRest(output, webhooks, app));
      if (app && !isWhole(app)) context.exitCode = EXIT.different;
    });
}

async function rejectExisting(file: string): Promise<void> {
  const exists = await stat(file).then(
    () => true,
    () => false,
  );
  if (exists) throw usageError(`${file} exists already`, 'Move it away, or leave out --write');
}

async function readTransform(given: string): Promise<{ name: string; transform: string }> {
  const [, name, file] = /^([^=]+)=(.+)$/s.exec(given) ?? [];
  if (name === undefined || file === undefined) throw usageError(`--webhook ${given}: expected name=file`);
  return { name, transform: await readFileOf(file) };
}

async function createWebhook(api: ApiClient, { name, transform }: { name: string; transform: string }): Promise<Json> {
  const { environment } = api.settings;
  const body = { name, transform, ...(environment && { environment }), message: 'tidegate import inngest' };
  try {
    const { data } = await api.post('/v1/webhooks', body);
    return { id: data.id, name: data.name, environment: data.environment, url: data.url };
  } catch (error) {
    if (error instanceof CliError)
      throw new CliError(`The webhook ${name}: ${error.message}`, { exitCode: error.exitCode, hint: error.hint });
    throw error;
  }
}

async function registerApp(api: ApiClient, url: string): Promise<Json> {
  const { data } = await api.post('/v1/apps', { url });
  return data;
}

function withoutSecret({ isSecret, value, ...variable }: Variable): Variable {
  return { ...variable, ...(isSecret ? { isSecret, note: `in ${FILE}` } : { value }) };
}

function presentScan({ variables, addresses, sdks, files, isTruncated }: Scan): Json {
  const listed = (found: Map<string, string[]>) => [...found].map(([name, places]) => ({ name, places }));
  return {
    variables: listed(variables).map((one) => ({ ...one, meaning: MEANING[one.name] ?? UNKNOWN })),
    addresses: listed(addresses),
    sdks: listed(sdks),
    files,
    is_truncated: isTruncated,
  };
}

function printScan(output: Output, scan: Scan, variables: readonly Variable[], file: string | undefined): void {
  output.line(output.paint('bold', file ? `Wrote the variables of the app to ${file}` : 'Variables of the app'));
  if (!file) output.line(printable(toDotEnv(variables).trimEnd()));
  output.line();
  const rows = [...scan.variables].map(([name, places]) => [name, MEANING[name] ?? UNKNOWN, places.join(', ')]);
  output.table(['FOUND', 'WHAT TO DO', 'WHERE'], rows, `No INNGEST_ variable in ${scan.files} files.`);
  for (const [host, places] of scan.addresses) {
    output.line(
      output.paint('yellow', printable(`${host} is written into ${places.join(', ')}: use the variables instead`)),
    );
  }
  for (const [sdk, places] of scan.sdks) output.line(printable(`SDK: ${sdk} (${places.join(', ')})`));
  if (scan.isTruncated) output.note('Some files were not read: too many, or larger than 1 MiB');
  output.line('docs/compatibility.md has the SDK versions that are tested, and what differs.');
}

function printRest(output: Output, webhooks: readonly Json[], app: Json | null): void {
  for (const { name, url } of webhooks) output.line(printable(`Created the webhook ${name}: give the provider ${url}`));
  if (!app) {
    output.line('Start the app with these variables, and register it: tidegate import inngest --app <URL>');
    return;
  }
  output.line(`Registered ${printable(app.url)}`);
  for (const { id, problems } of withProblems(app))
    output.line(output.paint('red', printable(`${id}: ${problems.join('; ')}`)));
  for (const { function: id, field, message } of app.unsupported) {
    output.line(output.paint('yellow', printable(`${id ?? 'the app'}: ${field}: ${message}`)));
  }
  const more = app.unsupported_count - app.unsupported.length;
  if (more > 0) output.line(`… and ${more} more`);
  if (isWhole(app)) output.line('The service acts on all of its configuration.');
}

function withProblems({ functions }: Json): Json[] {
  return functions.filter(({ problems }: Json) => problems.length > 0);
}

/** Whether the service acts on all that the app has configured. */
function isWhole(app: Json): boolean {
  return app.unsupported_count === 0 && withProblems(app).length === 0;
}
