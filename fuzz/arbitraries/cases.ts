/** All cases, weighted by the amount of code behind each area. */
import fc from 'fast-check';
import type { Case } from '../case.ts';
import type { OpenApiDocument } from '../targets.ts';
import { apiCases } from './api.ts';
import { appCases } from './apps.ts';
import { assistantCases } from './assistants.ts';
import { destinationInputs } from './destination-inputs.ts';
import { pageCases } from './pages.ts';
import { receiveCases } from './receive.ts';
import { roleCases } from './roles.ts';
import { webhookInputs } from './webhook-inputs.ts';
import { wireCases } from './wire.ts';

export function allCases(document: OpenApiDocument): fc.Arbitrary<Case> {
  return fc.oneof(
    { weight: 8, arbitrary: apiCases(document) },
    { weight: 4, arbitrary: roleCases(document) },
    { weight: 2, arbitrary: webhookInputs },
    { weight: 1, arbitrary: destinationInputs },
    { weight: 2, arbitrary: assistantCases },
    { weight: 8, arbitrary: receiveCases },
    { weight: 4, arbitrary: appCases },
    { weight: 2, arbitrary: pageCases },
    { weight: 2, arbitrary: wireCases },
  );
}
