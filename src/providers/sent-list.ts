/** The schema of a provider's list of sent requests, a part of its preset: with this data the service compares
 *  received with sent requests, and fetches missing ones (docs/webhooks.md#nothing-missing).
 *
 *  A *path* leads to a value in JSON, with dots between names; '' is the whole. Texts may have the fields of the
 *  account in braces. */
import { z } from 'zod';

const pathSchema = z.string().regex(/^([\w-]{1,50}(\.[\w-]{1,50}){0,5})?$/, 'names with dots between them');
/** The path of a URL: `/repos/{owner}/{repository}/hooks`. */
const urlPathSchema = z.string().regex(/^\/[\w/{}.-]{1,200}$/, 'the path of a URL');
const headersSchema = z.record(z.string().regex(/^[a-z0-9-]{1,50}$/), z.string().max(200));

/** A field that selects a list of the account, such as its repository. */
const accountFieldSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z_]{0,29}$/),
  label: z.string().max(60),
  description: z.string().max(300),
  /** It must match the whole value. */
  pattern: z.string().max(200),
});
export type AccountField = z.infer<typeof accountFieldSchema>;

/** The next page begins after the last item of this one, whose ID is a parameter; or the provider's `Link` header has the parameter. */
const pagesSchema = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('last-item'),
    parameter: z.string(),
    /** Path of the item's ID, and of what is true while more pages follow. */
    id: pathSchema,
    more: pathSchema,
  }),
  z.strictObject({ by: z.literal('link-header'), parameter: z.string() }),
]);

export const sentListSchema = z.strictObject({
  /** The provider's page on the list. */
  docs: z.url(),
  /** Scheme and host of the API. Keys with the prefix of the sandbox belong to the sandbox's API. */
  api: z.url(),
  sandbox: z.strictObject({ keyPrefix: z.string().min(1), api: z.url() }).optional(),
  key: z.strictObject({
    /** The provider's term for it. */
    label: z.string().max(60),
    /** Says where users make one that can only read. */
    where: z.string().max(300),
    pattern: z.string().max(200).optional(),
  }),
  headers: headersSchema.default({}),
  account: z.array(accountFieldSchema).max(6).default([]),
  /** Lists of different accounts. The list whose fields the webhook has is read. */
  sources: z
    .array(
      z.strictObject({
        /** `github-app`: the key is the private key of an app, with which a token is signed. */
        auth: z.enum(['bearer', 'github-app']).default('bearer'),
        list: urlPathSchema,
        /** Path of one item, by `{ref}`. */
        item: urlPathSchema,
        /** A POST to it asks the provider to send the request again. */
        redeliver: urlPathSchema.optional(),
      }),
    )
    .min(1)
    .max(4),
  /** Parameters of the list. `{from:s}`, `{to:iso}` and the like stand for the requested span. */
  query: z.record(z.string().max(50), z.string().max(100)).default({}),
  pages: pagesSchema,
  /** The list's items, newest first. */
  items: pathSchema,
  /** Paths in an item: the ID that deduplicates its request, the ID by which the API has it (`ref`), and when it was sent. */
  id: pathSchema,
  ref: pathSchema,
  time: z.strictObject({ at: pathSchema, unit: z.enum(['s', 'iso']) }),
  /** The whole `id` must match it; an item whose `id` does not is not the provider's. */
  idPattern: z.string().max(100),
  /** Set if the list has the items of all endpoints of the account. The types of the items that this endpoint gets are read from the
   *  API. */
  subscription: z
    .strictObject({
      path: urlPathSchema,
      /** The path of the types in the response, and the type that means all. */
      types: pathSchema,
      all: z.string(),
      /** The path of the type in an item. */
      type: pathSchema,
    })
    .optional(),
  /** How a fetched item becomes the missing request. */
  request: z.strictObject({
    body: pathSchema,
    /** Path of the headers; those of `headers` are added. */
    headersAt: pathSchema.optional(),
    headers: headersSchema.default({}),
    /** Name of the form field that has the body, if the content type is that of a form. */
    formField: z.string().optional(),
  }),
  /** Headers with the number of requests that are left, and when there are more (Unix seconds). */
  rateLimit: z.strictObject({ remaining: z.string(), reset: z.string() }).optional(),
  /** How long the provider keeps the list. */
  keptDays: z.int().min(1).max(100),
  /** How a recovered request differs from the missing one. */
  note: z.string().max(300).optional(),
});
export type SentList = z.infer<typeof sentListSchema>;

/** A provider that has no list of sent requests, and the page that shows this. */
export const noSentListSchema = z.strictObject({ none: z.string().max(200), docs: z.url() });
