/** Routes of events: sending and finding them, and what they started. */
import type { Feature } from '../parts.ts';
import { eventCountRoutes } from '../routes/event-counts.ts';
import { eventDecisionRoutes } from '../routes/event-decisions.ts';
import { provenanceRoutes } from '../routes/event-provenance.ts';
import { eventRoutes } from '../routes/events.ts';
import { eventLookupRoutes } from '../routes/lookups.ts';
import { searchRoutes } from '../routes/search.ts';
import { sendEventRoutes } from '../routes/send-events.ts';

export const EVENTS: Feature = [
  eventCountRoutes,
  eventRoutes,
  eventLookupRoutes,
  eventDecisionRoutes,
  sendEventRoutes,
  provenanceRoutes,
  searchRoutes,
];
