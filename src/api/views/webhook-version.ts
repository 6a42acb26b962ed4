/** The API's representation of versions of a webhook. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Principal } from '../../model/auth/access.ts';
import { METHODS, verificationSchema } from '../../providers/preset.ts';
import {
  VERSIONED_FIELDS,
  type VersionedField,
  versionOf,
  type Webhook,
  type WebhookSnapshot,
} from '../../store/webhooks/webhook.ts';
import type { Author, WebhookVersion } from '../../store/webhooks/webhook-versions.ts';
import { apiObject, principal, textOrNull, wholeOrNull } from '../http/validation.ts';
import { lineDiff } from './line-diff.ts';
import { present } from './present.ts';
import { largeBodiesSchema, presentLargeBodies, presentOrder, transformSchema, webhookOrderSchema } from './webhook.ts';

const MESSAGE_MAX_LENGTH = 500;

export const messageSchema = z.string().trim().min(1).max(MESSAGE_MAX_LENGTH).optional().meta({
  description: 'The reason for the change, shown in the list of versions',
  example: 'Skip test events',
});

export const ifVersionSchema = z
  .int()
  .min(1)
  .optional()
  .describe(
    'The version that the change is based on: 409 `version_conflict` if the webhook has another version by now. Absent: any version',
  );

const API_NAMES = {
  transform: 'transform',
  filter: 'filter',
  provider: 'provider',
  verification: 'verification',
  settings: 'settings',
  verify: 'verify',
  methods: 'methods',
  deduplicate: 'deduplicate',
  maxBodyBytes: 'max_body_bytes',
  largeBodies: 'large_bodies',
  order: 'order',
} as const satisfies Record<VersionedField, string>;

const fieldSchema = z.enum(VERSIONED_FIELDS.map((field) => API_NAMES[field]));

export const versionSchema = apiObject('WebhookVersion', {
  version: z.int(),
  is_live: z.boolean().describe('Whether the version handles requests now'),
  created_at: z.iso.datetime(),
  author: principal.nullable().describe('Who saved the version; null: it was saved before versions existed'),
  message: textOrNull,
  restored_from: wholeOrNull.describe('The version whose content it restores'),
  changed: z
    .array(fieldSchema)
    .describe('Fields that differ from the previous version; for the first version, fields that were set'),
});

const snapshotSchema = apiObject('WebhookSnapshot', {
  transform: transformSchema,
  filter: textOrNull,
  provider: textOrNull,
  verification: verificationSchema.nullable(),
  settings: z.record(z.string(), z.string()),
  verify: z.boolean(),
  methods: z.array(z.enum(METHODS)).nullable().describe("null: the provider's, or POST"),
  deduplicate: z.boolean(),
  max_body_bytes: wholeOrNull,
  large_bodies: largeBodiesSchema.nullable(),
  order: webhookOrderSchema.nullable(),
});

export const versionDetailsSchema = versionSchema
  .extend({ snapshot: snapshotSchema.describe('The webhook as of this version. Secrets are not part of it') })
  .meta({ id: 'WebhookVersionDetails' });

export const versionDiffSchema = apiObject('WebhookVersionDiff', {
  with: z.int(),
  version: z.int(),
  changes: z.array(
    z.object({
      field: fieldSchema,
      before: z.unknown().describe('In the version `with`'),
      after: z.unknown().describe('In the version `version`'),
      diff: textOrNull.describe('For `transform` and `filter`: the difference by lines, as `diff -u` shows it'),
    }),
  ),
});

export function authorOf({ kind, id, name }: Principal): Author {
  return { kind, id, name };
}

/** @throws ServiceError version_conflict */
export function requireVersion(webhook: Webhook, expected: number | undefined): void {
  const version = versionOf(webhook);
  if (expected === undefined || expected === version) return;
  throw new ServiceError('version_conflict', {
    detail: `it has version ${version}, and "if_version" is ${expected}; read it again, then save`,
    facts: { version },
  });
}

export function presentVersion(version: WebhookVersion, live: number) {
  return present(versionSchema, version, {
    is_live: version.version === live,
    changed: version.changed.map((field) => API_NAMES[field]),
  });
}

export function presentSnapshot(snapshot: WebhookSnapshot) {
  const { verification, settings = {}, verify = true, deduplicate = true } = snapshot;
  return present(
    snapshotSchema,
    { ...snapshot, verify, deduplicate },
    {
      verification: verification ?? null,
      settings,
      large_bodies: presentLargeBodies(snapshot),
      order: presentOrder(snapshot),
    },
  );
}

interface Numbered {
  number: number;
  snapshot: WebhookSnapshot;
}

export function presentDiff(before: Numbered, after: Numbered) {
  const earlier = presentSnapshot(before.snapshot);
  const later = presentSnapshot(after.snapshot);
  const names = [before, after].map(({ number }) => `version ${number}`) as [string, string];
  const fields = VERSIONED_FIELDS.map((field) => API_NAMES[field]);
  const changes = fields
    .filter((field) => !isDeepStrictEqual(earlier[field], later[field]))
    .map((field) => ({
      field,
      before: earlier[field],
      after: later[field],
      diff:
        field === 'transform' || field === 'filter'
          ? lineDiff(...names, earlier[field] ?? '', later[field] ?? '')
          : null,
    }));
  return { with: before.number, version: after.number, changes };
}
