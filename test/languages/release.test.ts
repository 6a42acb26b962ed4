import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type ExampleLanguage, type HostedExample, hostExample, LANGUAGES } from '../support/example-programs.ts';
import { must } from '../support/program.ts';
import { installPython } from '../support/python.ts';
import { type MadeRelease, makeRelease } from '../support/release.ts';
import { type Service, startService } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const GO_MODULE = 'github.com/tidegate/tidegate/clients/go';

describe('Each client of a release, installed in an empty project', function () {
  this.timeout(600_000);
  let service: Service;
  let release: MadeRelease;
  before(async () => {
    service = await startService();
    release = await makeRelease('client,python,go');
  });
  after(async () => {
    release?.remove();
    await service?.stop();
  });

  describe('the npm package', () => {
    let project: string;
    before(async () => {
      project = release.folder();
      writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
      await must('npm', ['install', '--no-audit', '--no-fund', '--offline', release.file('.tgz')], { cwd: project });
    });

    it("runs the README's app on Node 24", () =>
      runsFirstFunction('TypeScript', inProject(process.execPath, 'app.ts', String)));

    it("runs the README's app, compiled, on the Node of this machine", async function () {
      const node = otherNode();
      if (!node) this.skip();
      await runsFirstFunction('TypeScript', inProject(node, 'app.js', stripTypeScriptTypes));
    });

    it('has the command line: npx tidegate', async () => {
      expect(await must('npx', ['tidegate', '--version'], { cwd: project })).to.match(/^\d+\.\d+\.\d+$/m);
      const args = ['tidegate', 'send', 'order/sent', '--data', '{"orderId":"A2"}', '--json'];
      const said = await must('npx', args, { cwd: project, env: { TIDEGATE_URL: service.url } });
      const { ids } = JSON.parse(said.slice(said.indexOf('{')));
      const { body } = await service.stored(ids[0]);
      expect(body.data).to.deep.include({ name: 'order/sent', data: { orderId: 'A2' } });
    });

    function inProject(node: string, name: string, compile: (code: string) => string): ExampleLanguage['prepare'] {
      return async (_, code) => {
        writeFileSync(join(project, name), compile(code));
        return [node, [join(project, name)]];
      };
    }
  });

  it("the Python wheel and the source distribution run the README's app", async () => {
    // Has what the app needs beside the client.
    const bin = await installPython('example-python', join(ROOT, 'examples/python/requirements.txt'));
    const builder = join(ROOT, '.data/release-python/bin/python');
    for (const suffix of ['.whl', '.tar.gz']) {
      const project = release.folder();
      const target = join(project, 'packages');
      // Hatchling, which the source distribution needs, is where the release was built.
      const options = ['--quiet', '--no-index', '--no-build-isolation', '--target', target];
      await must(builder, ['-m', 'pip', 'install', ...options, release.file(suffix)], { cwd: project });
      await runsFirstFunction('Python', async (_, code) => {
        writeFileSync(join(project, 'app.py'), code);
        return ['env', [`PYTHONPATH=${target}`, join(bin, 'python'), join(project, 'app.py')]];
      });
    }
  });

  it("the zip of the Go module runs the README's app", async () => {
    const project = release.folder();
    const zip = release.file('.zip');
    const version = `v${/-(\d[^/]*)\.zip$/.exec(zip)?.[1]}`;
    const served = join(project, 'proxy', GO_MODULE, '@v');
    mkdirSync(served, { recursive: true });
    copyFileSync(zip, join(served, `${version}.zip`));
    copyFileSync(join(ROOT, 'clients/go/go.mod'), join(served, `${version}.mod`));
    writeFileSync(join(served, `${version}.info`), JSON.stringify({ Version: version }));
    writeFileSync(join(project, 'go.mod'), 'module shop\n\ngo 1.25\n');
    const env = {
      GOPROXY: `file://${join(project, 'proxy')}`,
      GONOSUMDB: '*',
      GOMODCACHE: join(project, 'modules'),
      // Go makes downloaded modules read-only.
      GOFLAGS: '-mod=mod -modcacherw',
    };
    await must('go', ['get', `${GO_MODULE}@${version}`], { cwd: project, env });
    await runsFirstFunction('Go', async (_, code) => {
      writeFileSync(join(project, 'main.go'), code);
      await must('go', ['build', '-o', 'program', '.'], { cwd: project, env });
      return [join(project, 'program'), []];
    });
  });

  async function runsFirstFunction(name: string, prepare: ExampleLanguage['prepare']): Promise<void> {
    const language = LANGUAGES.find((language) => language.name === name) as ExampleLanguage;
    const app: HostedExample = await hostExample({ ...language, prepare }, language.first, service.url);
    try {
      expect((await service.post('/v1/apps', { url: app.url })).status).to.equal(200);
      const event = { name: 'order/paid', data: { orderId: 'A1', total: 120 } };
      const { body: sent } = await service.post('/e/key', event);
      const { body } = await service.waitFor(`/v1/events/${sent.ids[0]}/runs`, ({ body }) => body.data?.[0]?.ended_at);
      expect(body.data[0].output ?? (await outputOf(body.data[0]))).to.deep.equal({ sent: 'Receipt for order A1' });
    } finally {
      await app.stop();
    }
  }

  /** Lists have none. */
  async function outputOf(run: { run_id?: string; id?: string }): Promise<unknown> {
    return (await service.get(`/v1/runs/${run.run_id ?? run.id}`)).body.data.output;
  }
});

/** The clients support versions of Node that are older than the one of the tests. */
function otherNode(): string | undefined {
  const folders = (process.env.PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'));
  for (const folder of folders) {
    try {
      const node = join(folder, 'node');
      const major = Number(execFileSync(node, ['-p', 'parseInt(process.versions.node)'], { encoding: 'utf8' }));
      if (major >= 20 && node !== process.execPath) return node;
    } catch {}
  }
  return undefined;
}
