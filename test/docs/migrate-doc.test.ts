import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { expect } from 'chai';
import { variablesOf } from '../support/cli.ts';
import { type HostProgram, startHost } from '../support/program.ts';
import { type Service, startService } from '../support/service.ts';
import { pageOf } from './examples.ts';

const run = promisify(execFile);
const MAIN = resolve(import.meta.dirname, '../../cli/src/main.ts');
const APP = resolve(import.meta.dirname, 'programs/inngest-shop.ts');
/** The folder of the app, as it is at Inngest. */
const FILES = {
  '.env': 'INNGEST_EVENT_KEY=theirs\nINNGEST_SIGNING_KEY=signkey-prod-0123456789abcdef\n',
  'package.json': '{"dependencies": {"inngest": "^4.24.0"}}',
  'github.js':
    'function transform(evt, headers) { return { name: "github/" + headers["X-Github-Event"], data: evt }; }',
  'push.json': '{"headers": {"X-GitHub-Event": "push"}, "body": "{\\"commits\\": []}"}',
};

describe('docs/migrate-from-inngest.md', () => {
  let service: Service;
  let app: HostProgram | undefined;
  let folder: string;
  const page = pageOf('migrate-from-inngest.md');

  before(async () => {
    service = await startService({ dev: false });
    folder = mkdtempSync(join(tmpdir(), 'tidegate-migrate-'));
    for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'tidegate'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
    chmodSync(join(folder, 'tidegate'), 0o755);
  });
  after(async () => {
    await app?.stop();
    rmSync(folder, { recursive: true });
    await service.stop();
  });

  /** Starts the app with the variables that the command has written, as step 4 says. */
  async function startApp(): Promise<HostProgram> {
    const variables = parseEnv(readFileSync(join(folder, '.env.tidegate'), 'utf8')) as Record<string, string>;
    expect(variables).to.have.all.keys('INNGEST_BASE_URL', 'INNGEST_EVENT_KEY', 'INNGEST_SIGNING_KEY');
    const env = { ...variables, INNGEST_DEV: '', INNGEST_ENV: '' };
    return startHost(process.execPath, [APP], { cwd: resolve(APP, '..'), env });
  }

  it('has commands that migrate an app of the official SDK, in their order', async () => {
    // Those of a numbered list are indented.
    const examples = [...page.matchAll(/^( *)```sh\n([\s\S]*?)^\1```$/gm)].map(([, , code]) => code as string);
    const outputs: string[] = [];
    for (const code of examples) {
      if (code.includes('$APP_URL')) app = await startApp();
      const PATH = `${folder}:${process.env.PATH}`;
      const env = { ...process.env, ...variablesOf(service), PATH, APP_URL: app?.url ?? '' };
      const { stdout } = await run('sh', ['-ec', code], { cwd: folder, env }).catch((error) => {
        throw new Error(`${code}\n${error.stdout}${error.stderr}`);
      });
      outputs.push(stdout);
    }
    const all = outputs.join('\n');
    expect(all).to.match(/^INNGEST_SIGNING_KEY +the signing key of this service +\.env:2$/m);
    expect(all).to.include('The service acts on all of its configuration').and.include('github/push');
    expect(all).to.include('Created the webhook GitHub: give the provider ');
    const { body } = await service.waitFor('/v1/events?name=receipt/sent', ({ body }) => body.data?.length === 1);
    expect(body.data[0].data).to.deep.equal({ receipt: 'Receipt for order A1' });
  });

  it('names every variable for which the command line says what to set', async () => {
    const { MEANING } = await import('../../cli/src/inngest/variables.ts');
    const toSet = Object.entries(MEANING).filter(([name, text]) => !text.startsWith('stays') && !/ORIGIN$/.test(name));
    for (const [name] of toSet) expect(page, name).to.include(`\`${name}\``);
  });
});
