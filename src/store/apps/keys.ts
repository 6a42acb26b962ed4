/** Keys of the apps room. */
import type { KeyDeclaration } from '../redis/key-declaration.ts';

export const appKeys = (prefix: string) => ({
  apps: (env: string) => `${prefix}:apps:${env}`,
  allowedOrigins: (env: string) => `${prefix}:allowed-origins:${env}`,
  functions: (env: string) => `${prefix}:functions:${env}`,
  pausedFunctions: (env: string) => `${prefix}:paused-functions:${env}`,
  functionsVersion: (env: string) => `${prefix}:functions-version:${env}`,
  triggerHistory: (env: string) => `${prefix}:trigger-history:${env}`,
  deploys: (env: string) => `${prefix}:deploys:${env}`,
  appDeploys: (env: string, app: string) => `${prefix}:app-deploys:${env}:${app}`,
  expressionProblems: (env: string) => `${prefix}:expression-problems:${env}`,
  expressionSkips: (env: string) => `${prefix}:expression-skips:${env}`,
});

export const APP_KEY_DECLARATIONS = {
  apps: {
    pattern: 'apps:<env>',
    type: 'hash',
    owner: 'apps/apps.ts',
    ttl: 'none',
    size: '1 field per app (quota)',
    description: 'App name → app, as JSON.',
  },
  allowedOrigins: {
    pattern: 'allowed-origins:<env>',
    type: 'hash',
    owner: 'apps/allowed-origins.ts',
    ttl: 'none',
    size: '1 field per app with allowed origins (quota); 50 origins',
    description: 'App name → origins that persons have allowed for it, as a JSON array.',
  },
  functions: {
    pattern: 'functions:<env>',
    type: 'hash',
    owner: 'apps/functions.ts',
    ttl: 'none',
    size: '1 field per function (quota, live and archived each)',
    description: 'Function ID → function, as JSON.',
  },
  pausedFunctions: {
    pattern: 'paused-functions:<env>',
    type: 'hash',
    owner: 'apps/functions.ts',
    ttl: 'none',
    size: '1 field per paused function',
    description: 'Function ID → time of the pause (ms), followed by `:held` where its queued runs do not start.',
  },
  functionsVersion: {
    pattern: 'functions-version:<env>',
    type: 'string',
    owner: 'apps/functions.ts',
    ttl: 'none',
    size: 'a number',
    description: 'Grows with every change to the functions.',
  },
  triggerHistory: {
    pattern: 'trigger-history:<env>',
    type: 'hash',
    owner: 'apps/trigger-history.ts',
    ttl: 'retention + 1 h, renewed',
    size: '1 field per function whose triggers changed; 10 changes, 2 KiB each',
    description:
      'Function ID → what it listened to before its last changes, as JSON (`model/apps/trigger-history.ts`).',
  },
  deploys: {
    pattern: 'deploys:<env>',
    type: 'list',
    owner: 'apps/deploys.ts',
    ttl: '90 days, or the retention if that is longer, renewed',
    size: '500 entries, 4 KiB each',
    description: 'The last deploys of all apps, newest first, as JSON (`model/apps/deploy.ts`).',
  },
  appDeploys: {
    pattern: 'app-deploys:<env>:<app>',
    type: 'list',
    owner: 'apps/deploys.ts',
    ttl: '90 days, or the retention if that is longer, renewed',
    size: '100 entries, 4 KiB each',
    description: 'The last deploys of an app, likewise.',
  },
  expressionProblems: {
    pattern: 'expression-problems:<env>',
    type: 'hash',
    owner: 'apps/expression-problems.ts',
    ttl: '24 h, renewed',
    size: '1 field per function',
    description: 'Function ID → the last reason why an expression of it was not evaluated, as JSON.',
  },
  expressionSkips: {
    pattern: 'expression-skips:<env>',
    type: 'hash',
    owner: 'apps/expression-problems.ts',
    ttl: '24 h, renewed',
    size: '1 field per function',
    description: 'Function ID → number of events that its expressions did not evaluate.',
  },
} as const satisfies Record<keyof ReturnType<typeof appKeys>, KeyDeclaration>;
