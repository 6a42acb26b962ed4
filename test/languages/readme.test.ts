import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../scripts/lib/ports.ts';
import { request } from '../support/http.ts';
import { must } from '../support/program.ts';
import { installPython } from '../support/python.ts';
import { type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Holds the programs, with a port of the test's in them. */
const WORK = join(ROOT, '.data/readme');
const INSTALL_MS = 180_000;

/** An example in a page: the file that it shows, and its code. */
const EXAMPLE = /<!-- (examples\/\S+) -->\n```\w+\n([\s\S]*?)```/g;

interface Example {
  language: string;
  page: string;
  hosts: string;
  sends: string;
  /** Prepares a program. @returns the command that starts it */
  prepare(file: string, code: string): Promise<[program: string, args: string[]]>;
}

const EXAMPLES: Example[] = [
  {
    language: 'TypeScript',
    page: 'README.md',
    hosts: 'examples/typescript/first-function.ts',
    sends: 'examples/typescript/send-event.ts',
    async prepare(file, code) {
      return [process.execPath, [write(`${file}.ts`, code)]];
    },
  },
  {
    language: 'Python',
    page: 'clients/python/README.md',
    hosts: 'examples/python/first_function.py',
    sends: 'examples/python/send_event.py',
    async prepare(file, code) {
      const bin = await installPython('example-python', join(ROOT, 'examples/python/requirements.txt'));
      return [join(bin, 'python'), [write(`${file}.py`, code)]];
    },
  },
  {
    language: 'Go',
    page: 'clients/go/README.md',
    hosts: 'examples/go/first-function/main.go',
    sends: 'examples/go/send-event/main.go',
    async prepare(file, code) {
      const main = write(`${file}/main.go`, code);
      const module = readFileSync(join(ROOT, 'examples/go/go.mod'), 'utf8');
      write(`${file}/go.mod`, module.replace('../../clients/go', join(ROOT, 'clients/go')));
      await must('go', ['build', '-o', 'program', '.'], { cwd: dirname(main) });
      return [join(dirname(main), 'program'), []];
    },
  },
];

describe('the examples of the READMEs', () => {
  let service: Service;
  const started: ChildProcess[] = [];
  before(async () => {
    service = await startService();
  });
  after(async () => {
    await Promise.all(started.map(end));
    await service.stop();
    rmSync(WORK, { recursive: true, force: true });
  });

  for (const { page, hosts, sends } of EXAMPLES) {
    it(`${page} shows ${hosts} and ${sends} as they are`, () => {
      const shown = [...readFileSync(join(ROOT, page), 'utf8').matchAll(EXAMPLE)].map(([, file, code]) => [file, code]);
      expect(shown).to.deep.equal([hosts, sends].map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]));
    });
  }

  for (const { language, page, hosts, sends, prepare } of EXAMPLES) {
    it(`${page} has a first function in ${language} that runs on the event it sends`, async function () {
      this.timeout(INSTALL_MS);
      const port = await freePort();
      const env = { SERVICE_DEV: service.url, PYTHONPATH: join(ROOT, 'clients/python/src') };
      const host = readFileSync(join(ROOT, hosts), 'utf8').replace('3000', String(port));
      const [program, args] = await prepare('host', host);
      started.push(spawn(program, args, { env: { ...process.env, ...env }, stdio: 'ignore' }));
      const url = `http://127.0.0.1:${port}/api/service`;
      await until(
        () =>
          request('GET', url).then(
            () => true,
            () => false,
          ),
        { describe: () => `${url} answers` },
      );
      expect((await service.post('/v1/apps', { url })).status).to.equal(200);

      const [sender, senderArgs] = await prepare('sender', readFileSync(join(ROOT, sends), 'utf8'));
      const said = await must(sender, senderArgs, { cwd: WORK, env });
      const [eventId] = /[0-9A-Z]{26}/.exec(said) ?? [];
      const { body } = await service.waitFor(`/v1/events/${eventId}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      expect(body.data.map(({ status, output }: Record<string, unknown>) => ({ status, output }))).to.deep.equal([
        { status: 'Completed', output: { sent: 'Receipt for order A1' } },
      ]);
      await end(started.pop() as ChildProcess);
    });
  }
});

function write(file: string, code: string): string {
  const path = join(WORK, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code);
  return path;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
