/** Parts that search and select events and runs, shared by web and worker. */
import { EventSearch } from '../history/event-search.ts';
import { Searches } from '../history/searches.ts';
import { Reruns } from '../jobs/bulk/reruns.ts';
import { SelectedRuns } from '../jobs/bulk/selected-runs.ts';
import { ReplayPlanner } from '../jobs/replays/planner.ts';
import { EndpointOrigins } from '../jobs/runs/calls/endpoint-origins.ts';
import type { Definitions } from './container.ts';
import type { IngestionNeeds, IngestionParts } from './ingestion.ts';
import type { RunServices } from './runs.ts';

export interface SelectionParts {
  searches: Searches;
  reruns: Reruns;
  selectedRuns: SelectedRuns;
  replayPlanner: ReplayPlanner;
  endpointOrigins: EndpointOrigins;
}

interface Needs extends IngestionNeeds, IngestionParts, RunServices {}

export const SELECTION: Definitions<SelectionParts, Needs> = {
  searches: (parts) => new Searches(parts, parts.archive, parts.history),
  reruns: ({ history }) => new Reruns({ history }),
  selectedRuns: ({ searches, history: { runs }, runStates, bulkActions, functions: functionTables, reruns }) =>
    new SelectedRuns({ searches, runs, runStates, bulkActions, functionTables, reruns }),
  replayPlanner: ({ ids, history, functions, evaluator, eventLists, eventCounts, archive }) => {
    const search = new EventSearch({ eventLists, eventCounts, archive });
    return new ReplayPlanner({ ids, history, search, functions, evaluator });
  },
  endpointOrigins: ({ config: { dev, appOrigins }, allowedOrigins }) =>
    new EndpointOrigins({ dev, appOrigins, allowedOrigins }),
};
