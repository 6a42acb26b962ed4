import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { cli, cliOk } from '../support/cli.ts';

describe('tidegate mcp install', () => {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), 'tidegate-mcp-'));
  });
  afterEach(() => rmSync(cwd, { recursive: true }));

  const install = (client: string, ...options: string[]) =>
    cliOk(['--url', 'https://t.example.com/', ...options, 'mcp', 'install', client], {
      cwd,
      env: { TIDEGATE_API_KEY: 'a secret' },
    });
  const read = (file: string) => JSON.parse(readFileSync(join(cwd, file), 'utf8'));

  for (const [client, file, servers, key] of [
    ['claude-code', '.mcp.json', 'mcpServers', `\${TIDEGATE_API_KEY}`],
    ['cursor', '.cursor/mcp.json', 'mcpServers', `\${env:TIDEGATE_API_KEY}`],
    ['vscode', '.vscode/mcp.json', 'servers', `\${input:tidegate-api-key}`],
  ] as const) {
    it(`writes and prints the settings of ${client}, without the key`, async () => {
      const { stdout } = await install(client, '--env', 'staging');
      const settings = read(file);
      expect(settings[servers].tidegate).to.deep.include({
        url: 'https://t.example.com/mcp',
        headers: { Authorization: `Bearer ${key}`, 'x-service-env': 'staging' },
      });
      expect(stdout)
        .to.include(file)
        .and.include(JSON.stringify(settings, null, 2))
        .and.not.include('a secret');
    });
  }

  it('keeps other servers and settings, and repeating it changes nothing', async () => {
    await install('vscode');
    const before = { ...read('.vscode/mcp.json'), other: 1 };
    before.servers.mine = { url: 'https://mine.example.com' };
    writeFileSync(join(cwd, '.vscode/mcp.json'), JSON.stringify(before));
    await install('vscode');
    expect(read('.vscode/mcp.json')).to.deep.equal(before);
  });

  it('leaves a file alone that it cannot read', async () => {
    writeFileSync(join(cwd, '.mcp.json'), '// mine\n{}');
    const { exitCode, stderr } = await cli(['mcp', 'install', 'claude-code'], { cwd });
    expect([exitCode, readFileSync(join(cwd, '.mcp.json'), 'utf8')]).to.deep.equal([2, '// mine\n{}']);
    expect(stderr).to.include('.mcp.json is not a JSON object');
  });
});
