/** The archive of a running service. */
import { type Archive, createArchive } from '../../src/archive/archive.ts';
import { readConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import { archiveSettings } from '../support/postgres.ts';

const RETENTION_DAYS = 30;

export function openServiceArchive({ prefix }: { prefix: string }): Archive {
  const config = readConfig({ MODE: 'dev', KEY_PREFIX: prefix, ...archiveSettings(prefix) });
  return createArchive(config, async () => RETENTION_DAYS, createLog('silent', 'test')) as Archive;
}
