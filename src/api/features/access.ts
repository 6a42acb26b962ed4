/** Routes of users and their saved views, of keys, and of the audit log. */
import type { Feature } from '../parts.ts';
import { apiKeyRoutes } from '../routes/api-keys.ts';
import { auditRoutes } from '../routes/audit.ts';
import { savedViewRoutes } from '../routes/saved-views.ts';
import { signingKeyRoutes } from '../routes/signing-keys.ts';
import { userRoutes } from '../routes/users.ts';

export const ACCESS: Feature = [apiKeyRoutes, signingKeyRoutes, auditRoutes, userRoutes, savedViewRoutes];
