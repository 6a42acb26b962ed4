/** What the API answers with: the types of the service's own schemas, declared there once. */
import type { z } from 'zod';
import type { apiKeySchema, newApiKeySchema } from '../../../src/api/routes/api-keys.ts';
import type { appSchema, detailedAppSchema } from '../../../src/api/routes/apps.ts';
import type { entrySchema } from '../../../src/api/routes/audit.ts';
import type { environmentSchema } from '../../../src/api/routes/environments.ts';
import type { eventKeySchema, madeSchema } from '../../../src/api/routes/event-keys.ts';
import type { storedEventSchema } from '../../../src/api/routes/events.ts';
import type { heldSchema } from '../../../src/api/routes/holding.ts';
import type { limitsSchema } from '../../../src/api/routes/limits.ts';
import type { detailedRunSchema } from '../../../src/api/routes/runs.ts';
import type { signingKeySchema } from '../../../src/api/routes/signing-keys.ts';
import type { resultSchema } from '../../../src/api/routes/transforms.ts';
import type { userSchema } from '../../../src/api/routes/users.ts';
import type { detailedFunctionSchema, functionSchema } from '../../../src/api/views/function.ts';
import type { loggedInFullSchema, loggedSchema } from '../../../src/api/views/request.ts';
import type { runSchema } from '../../../src/api/views/run.ts';
import type { historySchema } from '../../../src/api/views/run-history.ts';
import type { webhookSchema } from '../../../src/api/views/webhook.ts';

export type ApiKey = z.output<typeof apiKeySchema>;
export type NewApiKey = z.output<typeof newApiKeySchema>;
export type App = z.output<typeof appSchema>;
export type AppWithFunctions = z.output<typeof detailedAppSchema>;
export type AuditEntry = z.output<typeof entrySchema>;
export type Environment = z.output<typeof environmentSchema>;
export type EventKey = z.output<typeof eventKeySchema>;
export type NewEventKey = z.output<typeof madeSchema>;
export type StoredEvent = z.output<typeof storedEventSchema>;
export type HeldEvent = z.output<typeof heldSchema>;
export type Limits = z.output<typeof limitsSchema>;
export type Run = z.output<typeof runSchema>;
export type RunWithHistory = z.output<typeof detailedRunSchema>;
export type HistoryEntry = z.output<typeof historySchema>;
export type SigningKeys = z.output<typeof signingKeySchema>;
export type TransformResult = z.output<typeof resultSchema>;
export type User = z.output<typeof userSchema>;
export type FunctionSummary = z.output<typeof functionSchema>;
export type FunctionDetails = z.output<typeof detailedFunctionSchema>;
export type LoggedRequest = z.output<typeof loggedSchema>;
export type LoggedRequestInFull = z.output<typeof loggedInFullSchema>;
export type Webhook = z.output<typeof webhookSchema>;

/** `GET /auth/me` */
export interface Me {
  kind: 'user' | 'api-key' | 'setting' | 'dev';
  id: string;
  name: string;
  access: 'read' | 'write' | 'admin';
  environment: string | null;
}
