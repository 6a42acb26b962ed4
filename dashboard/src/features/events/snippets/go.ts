import { type LiteralSyntax, literal } from './literal.ts';
import type { EventToSend, SendTarget } from './target.ts';

const SYNTAX: LiteralSyntax = {
  null: 'nil',
  true: 'true',
  false: 'false',
  list: ['[]any{', '}'],
  object: ['map[string]any{', '}'],
  indent: '\t',
  key: (name) => `${JSON.stringify(name)}:`,
  exact: (digits) => `json.Number("${digits}")`,
};

/** A program for the module `tidegate` (clients/go). */
export function goSnippet({ name, data, id, ts, user, v }: EventToSend, { origin, env, dev }: SendTarget): string {
  const options = [
    `AppID: "my-app"`,
    `BaseURL: ${JSON.stringify(origin)}`,
    ...(dev ? ['Dev: &dev'] : []),
    ...(env === undefined ? [] : [`Env: ${JSON.stringify(env)}`]),
  ];
  const fields = [
    `Name: ${JSON.stringify(name)},`,
    ...(id === undefined ? [] : ['ID:   &id,']),
    ...(ts === undefined ? [] : [`Timestamp: ${ts},`]),
    ...(v === undefined ? [] : [`V: ${JSON.stringify(v)},`]),
    ...(user === undefined ? [] : [`User: ${literal(user, SYNTAX, 2)},`]),
    `Data: ${literal(data, SYNTAX, 2)},`,
  ];
  const body = fields.map((field) => `\t\t${field}`).join('\n');
  return `package main

import (
\t"context"
${body.includes('json.Number(') ? '\t"encoding/json"\n' : ''}\t"fmt"
\t"log"

\ttidegate "github.com/tidegate/tidegate/clients/go"
)

func main() {
${dev ? '\tdev := true\n' : '\t// The key is read from SERVICE_EVENT_KEY.\n'}\tclient, err := tidegate.NewClient(tidegate.ClientOpts{${options.join(', ')}})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
${id === undefined ? '' : `\tid := ${JSON.stringify(id)}\n`}\tsent, err := client.Send(context.Background(), tidegate.GenericEvent[map[string]any]{
${body}
\t})
\tif err != nil {
\t\tlog.Fatal(err)
\t}
\tfmt.Println(sent)
}
`;
}
