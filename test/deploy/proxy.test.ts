import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../scripts/lib/ports.ts';
import { Load } from '../support/load.ts';
import { type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { follow } from '../support/stream.ts';
import { until } from '../support/until.ts';

const CONFIG = readFileSync(resolve(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8');
const NGINX = process.env.NGINX_PROGRAM || 'nginx';

/** Needs nginx on the PATH, or its path in NGINX_PROGRAM. */
describe('deploy/nginx.conf', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-nginx-'));
  // nginx as root has workers of another user.
  chmodSync(folder, 0o755);
  let service: Service;
  let nginx: ChildProcess;
  let port: number;

  before(async function () {
    if (spawnSync(NGINX, ['-v']).status !== 0) this.skip();
    service = await startService({ webs: 2, workers: 0, env: { SHUTDOWN_DRAIN_SECONDS: '0.3', TRUST_PROXY: '1' } });
    port = await freePort();
    const [first, second] = service.webs.map((web) => String(web.port)) as [string, string];
    writeFileSync(
      join(folder, 'tidegate.conf'),
      withoutTls(CONFIG).replace(':8288', `:${first}`).replace(':8289', `:${second}`),
    );
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    writeFileSync(
      join(folder, 'nginx.conf'),
      `daemon off; error_log ${folder}/error.log; pid ${folder}/pid; events {}
       http { access_log off; ${temporary.join(' ')} include ${folder}/tidegate.conf; }`,
    );
    nginx = spawn(NGINX, ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], { stdio: 'inherit' });
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/livez`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until(isUp, { describe: () => `nginx responds: ${readFileSync(join(folder, 'error.log'), 'utf8')}` });
  });
  after(async () => {
    if (nginx) {
      const exited = once(nginx, 'exit');
      nginx.kill('SIGTERM');
      await exited;
    }
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The server of port 443, on a port of the test. */
  function withoutTls(config: string): string {
    const [upstream, , server = ''] = config.split(/^(?=server \{)/m);
    const plain = server
      .replace('listen 443 ssl http2;', `listen 127.0.0.1:${port};`)
      .replace('listen [::]:443 ssl http2;', '')
      .replace(/^ +ssl_.*\n/gm, '');
    return upstream + plain;
  }

  it('passes on WebSockets, and streams at once', async () => {
    const stream = await follow(`http://127.0.0.1:${port}/v1/stream`, service.apiHeaders);
    stream.close();
    const headers = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      'sec-websocket-protocol': 'v0.connect.inngest.com',
      // nginx's own Host would be of another origin than dev mode accepts.
      host: `127.0.0.1:${port}`,
    };
    const sent = request({ host: '127.0.0.1', port, path: '/v0/connect', headers }).end();
    const [response, socket] = await once(sent, 'upgrade');
    expect(response.statusCode).to.equal(101);
    socket.destroy();
  });

  it('lets two web processes restart one after another without a failed request', async () => {
    const load = new Load(port, service.eventPath);
    await load.goOn();
    for (const old of [...service.webs] as ServiceProcess[]) {
      await old.stop();
      service.webs.splice(service.webs.indexOf(old), 1);
      await load.goOn();
      service.env.PORT = String(old.port);
      await service.startWeb();
      await load.goOn();
    }
    await load.stop();
    expect(load.failures).to.deep.equal([]);
  });
});
