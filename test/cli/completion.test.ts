import { execFileSync, spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { cliOk } from '../support/cli.ts';

describe('tidegate completion', () => {
  /** What bash offers for the last word. */
  function offered(script: string, ...words: string[]): string[] {
    const line = ['tidegate', ...words].map((word) => `'${word}'`).join(' ');
    const ask = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _tidegate; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['--norc', '-c', ask], { encoding: 'utf8' }).trim().split('\n');
  }

  it('completes commands, options and their values in bash', async () => {
    const { stdout } = await cliOk(['completion', 'bash']);
    expect(offered(stdout, 'ru')).to.deep.equal(['runs']);
    expect(offered(stdout, '')).to.include.members(['send', 'tail', 'webhooks', '--json']);
    expect(offered(stdout, 'runs', ''))
      .to.include.members(['list', 'get', 'watch', 'retry'])
      .and.not.include('send');
    expect(offered(stdout, 'runs', 'ls', '--st')).to.deep.equal(['--status', '--state']);
    expect(offered(stdout, '--json', 'functions', 'pause', 'shop-x', '--queued-runs', '')).to.deep.equal([
      'run',
      'hold',
      'cancel',
    ]);
  });

  for (const [shell, check] of [
    ['zsh', ['-n']],
    ['fish', ['--no-execute']],
  ] as const) {
    it(`prints a script for ${shell} with every command`, async () => {
      const { stdout } = await cliOk(['completion', shell]);
      const { stdout: help } = await cliOk(['--help']);
      const commands = [...help.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? /gm)].map(([, name]) => name);
      expect(commands).to.include.members(['send', 'environments']);
      for (const name of commands.filter((command) => command !== 'help'))
        expect(stdout).to.include(`'tidegate ${name}'`);
      // Where the shell is installed.
      const { status, stderr, error } = spawnSync(shell, [...check], { input: stdout, encoding: 'utf8' });
      if (!error) expect(status, stderr).to.equal(0);
    });
  }
});
