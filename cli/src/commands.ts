/** All commands, in the order of the help. */
import { register as alerts } from './commands/alerts.ts';
import { register as apps } from './commands/apps.ts';
import { register as completion } from './commands/completion.ts';
import { register as config } from './commands/config.ts';
import { register as deploys } from './commands/deploys.ts';
import { register as destinations } from './commands/destinations.ts';
import { register as dev } from './commands/dev.ts';
import { register as doctor } from './commands/doctor.ts';
import { register as environments } from './commands/environments.ts';
import { register as events } from './commands/events.ts';
import { register as functions } from './commands/functions.ts';
import { register as importFrom } from './commands/import.ts';
import { register as invoke } from './commands/invoke.ts';
import { register as keys } from './commands/keys.ts';
import { register as lanes } from './commands/lanes.ts';
import { register as listen } from './commands/listen.ts';
import { register as mcp } from './commands/mcp.ts';
import { register as outbox } from './commands/outbox.ts';
import { register as replay } from './commands/replay.ts';
import { register as runs } from './commands/runs.ts';
import { register as send } from './commands/send.ts';
import { register as shadow } from './commands/shadow.ts';
import { register as tail } from './commands/tail.ts';
import { register as transform } from './commands/transform.ts';
import { register as webhooks } from './commands/webhooks.ts';
import { register as whatIf } from './commands/what-if.ts';
import type { Register } from './context.ts';

export const COMMANDS: readonly Register[] = [
  dev,
  send,
  invoke,
  tail,
  listen,
  events,
  runs,
  replay,
  apps,
  deploys,
  functions,
  lanes,
  webhooks,
  destinations,
  alerts,
  transform,
  keys,
  environments,
  outbox,
  config,
  importFrom,
  shadow,
  whatIf,
  doctor,
  mcp,
  completion,
];
