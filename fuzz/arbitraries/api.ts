/** Requests to every operation of the OpenAPI document: valid, nearly valid and invalid ones. */
import fc from 'fast-check';
import type { Case } from '../case.ts';
import type { OpenApiDocument } from '../targets.ts';
import { contentType, jsonBody } from './bodies.ts';
import { value, word } from './hostile.ts';
import { knownIn } from './known.ts';
import { headers, METHODS, principal, queryOf, queryValue, urlText, withBody } from './requests.ts';
import { fitting, type Schema } from './schema.ts';
import { search } from './searches.ts';

interface Operation {
  path: string;
  method: string;
  parameters: { name: string; in: string; schema?: Schema }[];
  body: Schema | undefined;
}

export function apiCases(document: OpenApiDocument): fc.Arbitrary<Case> {
  const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { parameters = [], requestBody }]): Operation => ({
        path,
        method: method.toUpperCase(),
        parameters,
        body: requestBody?.content?.['application/json']?.schema,
      }),
    ),
  );
  return fc.oneof(...operations.map((operation) => requestsTo(operation, schemas)));
}

function requestsTo(
  { path, method, parameters, body }: Operation,
  schemas: Record<string, Schema>,
): fc.Arbitrary<Case> {
  const segments = path.split('/').map((segment) => {
    if (!segment.startsWith('{')) return fc.constant(segment);
    if (segment === '{key}') return fc.oneof(fc.constantFrom('{{event-key}}', '{{attacked-key}}'), urlText);
    const known = knownIn(path, segment);
    if (known.length === 0) return urlText;
    return fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: urlText });
  });
  const queried = parameters.filter((parameter) => parameter.in === 'query');
  const pairs = fc
    .tuple(
      ...queried.map(({ name, schema = true }) =>
        fc.oneof(
          { weight: 2, arbitrary: fc.constant<[string, string][]>([]) },
          {
            weight: 1,
            arbitrary: (name === 'search' ? search : fitting(schema, { schemas, wrongPerMille: 100 })).map(
              (one): [string, string][] => [[name, encodeURIComponent(textOf(one).toWellFormed())]],
            ),
          },
          { weight: 1, arbitrary: queryValue.map((one): [string, string][] => [[name, one]]) },
        ),
      ),
      fc.oneof({ weight: 5, arbitrary: fc.constant<[string, string][]>([]) }, { weight: 1, arbitrary: oddPairs }),
    )
    .map((all) => all.flat());
  const given = body === undefined ? value : fitting(body, { schemas, wrongPerMille: 60 });
  const right = body === undefined ? undefined : fitting(body, { schemas, wrongPerMille: 0 });
  const bodies = jsonBody(right ? fc.oneof(right, given) : given);
  return fc
    .record({
      segments: fc.tuple(...segments),
      query: queryOf(pairs),
      headers: headers(principal),
      verb: fc.oneof(
        { weight: 15, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom(...METHODS) },
      ),
      pieces: body === undefined ? fc.option(bodies, { freq: 10, nil: undefined }) : fc.option(bodies, { freq: 20 }),
      type: fc.oneof({ weight: 12, arbitrary: fc.constant('application/json') }, { weight: 1, arbitrary: contentType }),
    })
    .map(({ segments, query, headers, verb, pieces, type }) => {
      const request = { area: `${method} ${path}`, method: verb, target: segments.join('/') + query, headers };
      return pieces ? withBody(request, pieces, type) : withBody(request, undefined);
    });
}

/** An object may have a `toString` of its own that is no function. */
function textOf(one: unknown): string {
  return typeof one === 'object' ? (JSON.stringify(one) ?? '') : String(one);
}

const oddPairs: fc.Arbitrary<[string, string][]> = fc.array(
  fc.tuple(
    word.map((one) => one.toWellFormed()),
    queryValue,
  ),
  {
    maxLength: 3,
  },
);
