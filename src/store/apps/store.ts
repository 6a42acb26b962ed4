/** Apps: their registrations and functions, and the expressions of functions that could not be evaluated. */
import type { StoreContext } from '../store-context.ts';
import { Apps } from './apps.ts';
import { ExpressionProblems } from './expression-problems.ts';
import { Functions } from './functions.ts';

export interface AppStore {
  apps: Apps;
  functions: Functions;
  expressionProblems: ExpressionProblems;
}

export function createAppStore({ redis, keys }: StoreContext): AppStore {
  return {
    apps: new Apps(redis, keys),
    functions: new Functions(redis, keys),
    expressionProblems: new ExpressionProblems(redis, keys),
  };
}
