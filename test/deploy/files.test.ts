import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { SETTINGS } from '../../src/settings/settings.ts';
import { SECRETS } from '../support/service.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const config = readConfig({ SECRET_KEY: SECRETS.SECRET_KEY });

/** Variables of compose.yaml itself. */
const OF_COMPOSE = ['POSTGRES_PASSWORD', 'POSTGRES_USER', 'REDIS_MEMORY', 'REDIS_PASSWORD'];
const OF_COMPOSE_ENV = ['POSTGRES_PASSWORD', 'REDIS_MEMORY', 'REDIS_PASSWORD'];
/** Variables of Node. */
const OF_NODE = ['NODE_COMPILE_CACHE', 'NODE_ENV'];

describe('The files in deploy/', () => {
  const metrics = new Set([...read('docs/metrics.md').matchAll(/^\| `(tidegate_\w+)` \|/gm)].map(([, name]) => name));

  for (const file of ['prometheus/rules.yaml', 'grafana/dashboard.json', 'helm/tidegate/templates/autoscaling.yaml']) {
    it(`${file} names only metrics that docs/metrics.md lists`, () => {
      const named = [...read(`deploy/${file}`).matchAll(/\btidegate_\w+/g)].map(([name]) =>
        name.replace(/_(bucket|sum|count)$/, ''),
      );
      expect(named).not.to.deep.equal([]);
      expect(named.filter((name) => !metrics.has(name))).to.deep.equal([]);
    });
  }

  it('prometheus/rules.yaml links each alert to a section that says what to do', () => {
    const rules = read('deploy/prometheus/rules.yaml');
    const runbooks = [...rules.matchAll(/runbook: (\S+)#(\S+)/g)];
    expect(runbooks).to.have.length(rules.match(/- alert: /g)?.length ?? 0);
    for (const [, file = '', anchor] of runbooks) {
      const anchors = [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
        title
          .toLowerCase()
          .replace(/[^\w\s-]/g, '')
          .replace(/\s/g, '-'),
      );
      expect(anchors, file).to.include(anchor);
    }
  });

  it('the workflows name every Action by its commit, with the version beside it', () => {
    const used = globSync('.github/workflows/*', { cwd: ROOT }).flatMap((file) => read(file).match(/uses: .+/g) ?? []);
    expect(used).not.to.deep.equal([]);
    for (const line of used) expect(line).to.match(/^uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('compose.yaml connects the service to Postgres by a role that is not a superuser', () => {
    const compose = read('compose.yaml');
    const role = /DATABASE_URL: postgresql:\/\/(\w+):/.exec(compose)?.[1];
    expect(role).not.to.equal(/POSTGRES_USER: (\w+)/.exec(compose)?.[1]);
    expect(read('deploy/postgres/role.sh')).to.include(`CREATE ROLE ${role} LOGIN NOSUPERUSER`);
    expect(compose).to.include('./deploy/postgres/role.sh:/docker-entrypoint-initdb.d/role.sh:ro');
  });

  it('set only settings that exist', () => {
    const names = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name]) => name as string);
    const units = globSync('deploy/systemd/*.service', { cwd: ROOT }).map(read).join('\n');
    const set = {
      Dockerfile: names(read('Dockerfile').replace(/\\\n/g, ''), /(?<=ENV.*)\b([A-Z_]+)=/g),
      'compose.yaml': names(read('compose.yaml'), /^ {4,6}([A-Z_]+): /gm).filter((name) => !OF_COMPOSE.includes(name)),
      'compose.env': names(read('deploy/compose.env'), /^([A-Z_]+)=/gm).filter(
        (name) => !OF_COMPOSE_ENV.includes(name),
      ),
      'values.yaml': names(read('deploy/helm/tidegate/values.yaml'), /^#? +([A-Z_]{3,}): /gm),
      systemd: names(units, /(?<=^Environment=.*)\b([A-Z_]+)=/gm),
    };
    for (const [file, given] of Object.entries(set)) {
      expect(given, file).not.to.deep.equal([]);
      expect(
        given.filter((name) => !(name in SETTINGS) && !OF_NODE.includes(name)),
        file,
      ).to.deep.equal([]);
    }
  });

  it('compose.env sets what compose.yaml requires', () => {
    const required = [...read('compose.yaml').matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    const given = [...read('deploy/compose.env').matchAll(/^(\w+)=/gm)].map(([, name]) => name);
    expect(given).to.include.members(required);
  });

  it('agree on the port of web', () => {
    const port = String(config.port);
    expect(read('Dockerfile')).to.include(`PORT=${port} `).and.include(`EXPOSE ${port} `);
    expect(read('deploy/compose.Caddyfile')).to.include(`port ${port}\n`);
    expect(read('deploy/health.js')).to.include(`PORT = '${port}'`);
    expect(read('deploy/helm/tidegate/templates/web.yaml')).to.include(`name: http, containerPort: ${port} `);
    for (const file of ['nginx.conf', 'Caddyfile'])
      expect(read(`deploy/${file}`), file).to.include(`127.0.0.1:${port}`);
  });

  it('compose.yaml gives its processes every setting of .env, and only Caddy reaches web', () => {
    const compose = read('compose.yaml');
    expect(compose).to.include('env_file: [.env]').and.include('TRUST_PROXY: 1');
    expect([...compose.matchAll(/^ {4}ports: (.+)$/gm)]).to.have.length(1);
    expect(/^ {2}caddy:\n(?: {4}.*\n)*? {4}ports: .+:80", .+:443"\]$/m.test(compose)).to.equal(true);
  });

  it('allow more time for a shutdown than the service takes', () => {
    const seconds = Math.ceil((config.shutdownGraceMs + 9_500) / 1_000);
    for (const unit of ['web', 'worker']) {
      expect(Number(/TimeoutStopSec=(\d+)/.exec(read(`deploy/systemd/tidegate-${unit}@.service`))?.[1])).to.be.at.least(
        seconds,
      );
    }
    for (const [, grace] of read('compose.yaml').matchAll(/stop_grace_period: (\d+)s/g))
      expect(Number(grace)).to.be.at.least(seconds);
    expect(
      Number(/PeriodSeconds: (\d+)\n/.exec(read('deploy/helm/tidegate/templates/worker.yaml'))?.[1]),
    ).to.be.at.least(seconds);
  });

  it('the chart has the version of the service', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    expect(read('deploy/helm/tidegate/Chart.yaml')).to.include(`appVersion: "${version}"`);
  });
});
