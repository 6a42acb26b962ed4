import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { SETTINGS } from '../../src/settings/settings.ts';

const EXAMPLE = readFileSync(resolve(import.meta.dirname, '../../.env.example'), 'utf8');

describe('.env.example', () => {
  const given = parseEnv(EXAMPLE);

  it('has every setting, and no other', () => {
    expect(Object.keys(given)).to.have.members(Object.keys(SETTINGS));
  });

  it('gives each setting its default', () => {
    const secrets = { SECRET_KEY: 'secret-key-0123456789-0123456789' };
    const { settings: _given, ...config } = readConfig({ ...given, ...secrets } as Record<string, string>);
    const { settings: _, ...byDefault } = readConfig(secrets);
    expect(config).to.deep.equal(byDefault);
  });
});
