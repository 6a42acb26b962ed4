/** Keys of the apps room. */
import { hash, list, string, zset } from './key-declaration.ts';

export const APP_KEYS = {
  apps: hash('apps:<env>', 'App name → app, as JSON.', {
    owner: 'apps/apps.ts',
    ttl: 'none',
    size: '1 field per app (quota)',
  }),
  allowedOrigins: hash('allowed-origins:<env>', 'App name → origins that people allowed, as a JSON array.', {
    owner: 'apps/allowed-origins.ts',
    ttl: 'none',
    size: '1 field per app (quota), 50 origins',
  }),
  requestedOrigins: zset(
    'requested-origins:<env>',
    'Origins where a person asked an app to register, by expiry (ms).',
    { owner: 'apps/allowed-origins.ts', ttl: '30 s, renewed', size: '1 entry per app' },
  ),
  givenRegistration: string(
    'given-registration:<env>:<id>',
    'What the candidate of a what-if registered, as JSON; empty before.',
    {
      owner: 'apps/asked-registrations.ts',
      ttl: '30 s',
      size: '2 MiB',
    },
  ),
  heldRegistrations: hash(
    'held-registrations:<env>',
    'App name → held registrations, and the count of refused ones, as JSON.',
    {
      owner: 'apps/held-registrations.ts',
      ttl: '7 days, renewed',
      size: '200 apps; 20 registrations each, 6 KiB each',
    },
  ),
  functions: hash('functions:<env>', 'Function ID → function, as JSON.', {
    owner: 'apps/functions.ts',
    ttl: 'none',
    size: '1 field per function (quota, live and archived each)',
  }),
  pausedFunctions: hash(
    'paused-functions:<env>',
    'Function ID → time of the pause (ms); `:held` follows if queued runs are held.',
    { owner: 'apps/functions.ts', ttl: 'none', size: '1 field per paused function' },
  ),
  functionSettings: hash('function-settings:<env>', 'Function ID → settings that people made, as JSON.', {
    owner: 'apps/functions.ts',
    ttl: 'none',
    size: '1 field per function with settings',
  }),
  functionsVersion: string('functions-version:<env>', 'Increases with every change of functions.', {
    owner: 'apps/functions.ts',
    ttl: 'none',
    size: 'a number',
  }),
  triggerHistory: hash(
    'trigger-history:<env>',
    'Function ID → former triggers, as JSON (`model/apps/trigger-history.ts`).',
    {
      owner: 'apps/trigger-history.ts',
      ttl: 'retention + 1 h, renewed',
      size: '1 field per function; 10 changes, 2 KiB each',
    },
  ),
  missedTicks: hash('missed-ticks:<env>', 'Function ID → missed ticks: schedule, first, last, number, as JSON.', {
    owner: 'apps/missed-ticks.ts',
    ttl: 'retention, renewed',
    size: '1 field per function; last 10, 100 bytes each',
  }),
  deploys: list('deploys:<env>', 'Deploys of all apps, newest first, as JSON (`model/apps/deploy.ts`).', {
    owner: 'apps/deploys.ts',
    ttl: '90 days or longer retention, renewed',
    size: '500 entries, 4 KiB each',
  }),
  appDeploys: list('app-deploys:<env>:<app>', 'Deploys of an app, newest first, as JSON.', {
    owner: 'apps/deploys.ts',
    ttl: '90 days or longer retention, renewed',
    size: '100 entries, 4 KiB each',
  }),
  appVersions: hash(
    'app-versions:<env>:<app>',
    'Version → what the app registered, as JSON (`model/apps/versions.ts`).',
    {
      owner: 'apps/app-versions.ts',
      ttl: 'none',
      size: '10 versions, and those with pinned runs; their functions (2 MiB each at most)',
    },
  ),
  versionChoices: hash(
    'version-choices:<env>',
    'App name → decisions about its versions, as JSON (`model/apps/versions.ts`).',
    { owner: 'apps/app-versions.ts', ttl: 'none', size: '1 field per app (quota)' },
  ),
  expressionProblems: hash(
    'expression-problems:<env>',
    'Function ID → last reason an expression was not evaluated, as JSON.',
    { owner: 'apps/expression-problems.ts', ttl: '24 h, renewed', size: '1 field per function' },
  ),
  expressionSkips: hash('expression-skips:<env>', 'Function ID → events its expressions did not evaluate.', {
    owner: 'apps/expression-problems.ts',
    ttl: '24 h, renewed',
    size: '1 field per function',
  }),
};
