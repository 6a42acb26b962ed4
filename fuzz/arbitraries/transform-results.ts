/** What a transform may return: lists of events, and answers within the limits and beyond. Statuses from 400 on would look like errors of the
 *  service. */
import fc from 'fast-check';
import { value, word } from './hostile.ts';

const headerName = fc.oneof(
  fc.constantFrom(
    'content-type',
    'Content-Type',
    'retry-after',
    'x-a',
    'X-A',
    'set-cookie',
    'x-accel-redirect',
    '__proto__',
  ),
  word,
);

const response = fc.record(
  {
    status: fc.oneof(fc.constantFrom(200, 202, 204, 205, 302, 304, 99, 600, '200', 2.5), fc.constant(null)),
    headers: fc.oneof(
      {
        weight: 4,
        arbitrary: fc.dictionary(headerName, fc.oneof(fc.constantFrom('text/xml', '1'), word), { maxKeys: 4 }),
      },
      { weight: 1, arbitrary: value },
    ),
    body: fc.oneof(value, word, fc.constant('x'.repeat(16_385))),
  },
  { requiredKeys: [] },
);

export function transformResult(event: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const events = fc.oneof(event, fc.array(fc.oneof(event, value), { maxLength: 4 }), value);
  return fc.oneof(events, fc.record({ events, response: fc.oneof(response, value) }, { requiredKeys: [] }));
}
