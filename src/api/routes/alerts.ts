/** `/v1/alerts`, `/v1/alert-rules`, `/v1/alert-channels`: alerts, the thresholds at which they open, and where they
 *  are sent (docs/alerts.md). */

import { z } from 'zod';
import { notFound, ServiceError } from '../../errors.ts';
import { isOpen } from '../../model/alerts/alert.ts';
import type { ChannelSecrets } from '../../model/alerts/channel.ts';
import { isRuleId, type RuleId, rulesOf } from '../../model/alerts/rules.ts';
import { newSigningSecret } from '../../model/auth/secret.ts';
import { PRODUCTION } from '../../model/environment.ts';
import { newId } from '../../model/ids.ts';
import type { ApiParts } from '../parts.ts';
import { checkChannels } from '../rest/alert-channel-names.ts';
import { countedReply, countPosition, namePosition, pageQuery, sortedReply } from '../rest/lists.ts';
import { type Route, routesOf } from '../rest/route.ts';
import { alertRuleSchema, alertSchema, presentAlert, presentRule, ruleInput, withRuleInput } from '../views/alert.ts';
import {
  alertChannelSchema,
  channelFields,
  channelKindSchema,
  createdChannelSchema,
  presentChannel,
  withChannelInput,
} from '../views/alert-channel.ts';
import { nameSchema } from '../views/name.ts';

export const testedSchema = z.object({
  accepted: z.boolean(),
  status: z.int().nullable().describe('Of HTTP; null for email, and without a response'),
  answer: z.string().describe('What the server answered, or why it did not'),
});

const routes = routesOf({ tag: 'Alerts', scope: 'environment' });

export function alertRoutes(deps: ApiParts): Route[] {
  const { config, publicUrl, environments, alertBooks, alertChannels, alertRules, alertSender } = deps;

  function context() {
    return { hasMail: config.mail !== undefined, nowMs: Date.now() };
  }

  async function shownChannel(env: string, name: string) {
    const [channel, { queues }] = await Promise.all([alertChannels.read(env, name), alertBooks.read(env)]);
    return presentChannel(channel, queues.get(name));
  }

  function existingRule(env: string, id: string): RuleId {
    if (isRuleId(id) && rulesOf(env === PRODUCTION).includes(id)) return id;
    throw notFound('rule', id);
  }

  return [
    routes.get('/v1/alerts', {
      operationId: 'listAlerts',
      summary: 'List alerts',
      description: 'Open ones first, then the last 500 of 30 days that are resolved, each latest first.',
      query: z.object({ ...pageQuery(countPosition), state: z.enum(['open', 'resolved']).optional() }),
      data: z.array(alertSchema),
      async handle({ env, query: { state, ...page } }) {
        const [{ alerts }, past] = await Promise.all([alertBooks.read(env), alertBooks.past(env)]);
        const open = alerts.filter(isOpen).sort((a, b) => (b.openedAt ?? 0) - (a.openedAt ?? 0));
        const all = state === 'open' ? open : state === 'resolved' ? past : [...open, ...past];
        return countedReply(all, page, presentAlert);
      },
    }),
    routes.get('/v1/alert-rules', {
      operationId: 'listAlertRules',
      summary: 'List the rules of alerts',
      description: 'With what is changed in this environment.',
      query: z.object(pageQuery(countPosition)),
      data: z.array(alertRuleSchema),
      async handle({ env, query }) {
        const choices = await alertRules.all(env);
        return countedReply(rulesOf(env === PRODUCTION), query, (id) => presentRule(id, choices.get(id)));
      },
    }),
    routes.patch('/v1/alert-rules/:rule', {
      operationId: 'updateAlertRule',
      summary: 'Change a rule of alerts',
      description: 'In this environment. Omitted fields stay unchanged; null sets the default.',
      body: z.object(ruleInput),
      data: alertRuleSchema,
      errors: ['not_found', 'input_invalid'],
      async handle({ env, params: { rule }, body }) {
        const id = existingRule(env, rule);
        if (body.channels) await checkChannels(alertChannels, env, 'channels', body.channels);
        await alertRules.change(env, id, (choices) => withRuleInput(choices, body));
        return { data: presentRule(id, (await alertRules.all(env)).get(id)) };
      },
    }),
    routes.post('/v1/alert-channels', {
      operationId: 'createAlertChannel',
      summary: 'Create an alert channel',
      description: 'It hears of the rules that name it, and of those that name none.',
      body: z.object({ name: nameSchema, kind: channelKindSchema, ...channelFields }),
      status: 201,
      data: createdChannelSchema,
      errors: ['input_invalid', 'alert_channel_exists', 'quota_exceeded'],
      async handle({ env, body: { name, kind, ...input } }) {
        const { channel, secrets } = withChannelInput({ name, kind }, {}, input, context());
        const secret = kind === 'webhook' ? newSigningSecret() : null;
        const all: ChannelSecrets = { ...secrets, ...(secret !== null && { signing: secret }) };
        const created = { ...channel, sealed: alertChannels.seal(env, name, all) };
        await alertChannels.create(env, created);
        return { data: { ...presentChannel(created, undefined), secret } };
      },
    }),
    routes.get('/v1/alert-channels', {
      operationId: 'listAlertChannels',
      summary: 'List alert channels',
      description: 'Sorted by name.',
      query: z.object(pageQuery(namePosition)),
      data: z.array(alertChannelSchema),
      async handle({ env, query }) {
        const [all, { queues }] = await Promise.all([alertChannels.all(env), alertBooks.read(env)]);
        return sortedReply(all, 'name', query, (channel) => presentChannel(channel, queues.get(channel.name)));
      },
    }),
    routes.get('/v1/alert-channels/:name', {
      operationId: 'getAlertChannel',
      summary: 'Get an alert channel',
      data: alertChannelSchema,
      handle: async ({ env, params: { name } }) => ({ data: await shownChannel(env, name) }),
    }),
    routes.patch('/v1/alert-channels/:name', {
      operationId: 'updateAlertChannel',
      summary: 'Change an alert channel',
      description: 'Omitted fields stay unchanged; null sets the default.',
      body: z.object(channelFields),
      data: alertChannelSchema,
      errors: ['not_found', 'input_invalid'],
      async handle({ env, params: { name }, body }) {
        await alertChannels.change(env, name, (before) => {
          const { channel, secrets } = withChannelInput(before, alertChannels.secretsOf(env, before), body, context());
          return { ...channel, sealed: alertChannels.seal(env, name, secrets) };
        });
        return { data: await shownChannel(env, name) };
      },
    }),
    routes.delete('/v1/alert-channels/:name', {
      operationId: 'deleteAlertChannel',
      summary: 'Delete an alert channel',
      description:
        'What it has not sent yet is not sent, and rules that also name other channels no longer name it. The only channel of a rule cannot be deleted: nobody, or everybody, would hear of its alerts.',
      errors: ['alert_channel_in_use'],
      async handle({ env, params: { name } }) {
        await alertChannels.read(env, name);
        const rules = [...(await alertRules.all(env))].filter(([, { channels }]) => channels?.includes(name));
        rejectInUse(rules.filter(([, { channels }]) => channels?.length === 1).map(([id]) => id));
        for (const [id] of rules) {
          await alertRules.change(env, id, (choices) => {
            const left = choices.channels?.filter((other) => other !== name);
            // Another channel of the rule was deleted in the meantime.
            if (left?.length === 0) rejectInUse([id]);
            return left ? withRuleInput(choices, { channels: left }) : choices;
          });
        }
        await alertChannels.remove(env, name);
        return {};
      },
    }),
    routes.post('/v1/alert-channels/:name/test', {
      operationId: 'testAlertChannel',
      summary: 'Send a test to an alert channel',
      description: 'At once, also in quiet hours, and says what the server answered.',
      data: testedSchema,
      async handle({ env, params: { name } }) {
        const channel = await alertChannels.read(env, name);
        const secrets = alertChannels.secretsOf(env, channel);
        const message = { id: newId(), at: Date.now(), changes: [], omitted: {}, open: {} };
        const kind = environments.find(env)?.kind ?? 'branch';
        const sent = await alertSender.send(channel, { env, message, isTest: true, publicUrl, secrets }, kind);
        return { data: { accepted: sent.isAccepted, status: sent.status ?? null, answer: sent.response } };
      },
    }),
  ];
}

/** @throws ServiceError alert_channel_in_use if there are any */
function rejectInUse(rules: readonly RuleId[]): void {
  if (rules.length === 0) return;
  const detail = `${rules.join(', ')}: give it other channels with PATCH /v1/alert-rules/<rule>, or null for all channels`;
  throw new ServiceError('alert_channel_in_use', { detail });
}
