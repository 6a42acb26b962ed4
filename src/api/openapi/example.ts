/** An operation of the OpenAPI document as a curl command. */

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  example?: unknown;
  examples?: unknown[];
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

export type Schemas = Record<string, unknown>;

export interface Described {
  requestBody?: { content: Record<string, { schema: unknown }> };
  security?: unknown[];
}

/** Uses the shell variables `URL` and `API_KEY`. */
export function curlOf(method: string, path: string, { requestBody, security }: Described, schemas: Schemas): string {
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} "$URL${path.replace(/{(\w+)}/g, '<$1>')}"`,
  ];
  if (security?.length !== 0) lines.push('-H "authorization: Bearer $API_KEY"');
  const body = requestBody && Object.values(requestBody.content)[0]?.schema;
  if (body) {
    const text = JSON.stringify(exampleOf(body as Schema, schemas)).replaceAll("'", "'\\''");
    lines.push("-H 'content-type: application/json'", `-d '${text}'`);
  }
  return lines.join(' \\\n  ');
}

/** The schema's example, otherwise the smallest valid value. */
function exampleOf(schema: Schema, schemas: Schemas): unknown {
  if (schema.$ref) return exampleOf(schemas[schema.$ref.split('/').at(-1) as string] as Schema, schemas);
  const given = [schema.example, schema.examples?.[0], schema.const, schema.enum?.[0], schema.default];
  const example = given.find((value) => value !== undefined);
  if (example !== undefined) return example;
  if (schema.anyOf) return exampleOf(schema.anyOf[0] as Schema, schemas);
  switch (schema.type) {
    case 'object':
      return exampleObject(schema, schemas);
    case 'array':
      return schema.items ? [exampleOf(schema.items, schemas)] : [];
    case 'integer':
    case 'number':
      return 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'uri' ? 'https://shop.example.com/api/service' : '…';
  }
}

/** The required fields; the first field if none is required. */
function exampleObject({ properties = {}, required }: Schema, schemas: Schemas): Record<string, unknown> {
  const names = required ?? Object.keys(properties).slice(0, 1);
  return Object.fromEntries(names.map((name) => [name, exampleOf(properties[name] ?? {}, schemas)]));
}
