/** Writes the documents that are generated from code. `node scripts/docs.ts --check` writes nothing and fails when one is stale. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { alertsPage } from './lib/alert-docs.ts';
import { compatibilityPage, migrationPage } from './lib/compatibility-docs.ts';
import { decisionsPage } from './lib/decision-docs.ts';
import { inventoryPage } from './lib/inventory-docs.ts';
import { llmsPage } from './lib/llms-docs.ts';
import { Problem, runMain } from './lib/problem.ts';
import { providersPage } from './lib/provider-docs.ts';
import { redisPage } from './lib/redis-docs.ts';
import { installPage } from './lib/release/install-page.ts';
import { envExample, settingsPage } from './lib/settings-docs.ts';

const ROOT = resolve(import.meta.dirname, '..');

/** Each generated document, by path. */
export const GENERATED: Record<string, () => string> = {
  'docs/alerts.md': alertsPage,
  'docs/compatibility.md': compatibilityPage,
  'docs/decisions/README.md': decisionsPage,
  'docs/install.md': installPage,
  'docs/inventory.md': inventoryPage,
  'docs/llms.txt': llmsPage,
  'docs/migrate-from-inngest.md': migrationPage,
  'docs/providers.md': providersPage,
  'docs/redis.md': redisPage,
  'docs/settings.md': settingsPage,
  '.env.example': envExample,
};

if (import.meta.main) {
  await runMain(async () => {
    const stale = Object.entries(GENERATED).filter(([file, render]) => read(file) !== render());
    if (!process.argv.includes('--check')) {
      for (const [file, render] of stale) writeFileSync(join(ROOT, file), render());
    } else if (stale.length > 0) {
      throw new Problem(`Stale: ${stale.map(([file]) => file).join(', ')}. Run: node scripts/docs.ts`);
    }
  });
}

function read(file: string): string {
  try {
    return readFileSync(join(ROOT, file), 'utf8');
  } catch {
    return '';
  }
}
