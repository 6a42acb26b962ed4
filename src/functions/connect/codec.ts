/** Encodes and decodes messages from declared fields, as protobuf and as JSON. Unknown fields are skipped; absent ones get protobuf's
 *  defaults. */
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { isJsonObject } from '../../model/values/json.ts';

/** How a field is written and read. `Value` is its type in an object. */
export interface Field<Value> {
  no: number;
  wireType: WireType;
  default: () => Value;
  write(writer: BinaryWriter, value: Exclude<Value, undefined>): void;
  /** @param before the value read so far: repeated fields add to it */
  read(reader: BinaryReader, before: Value): Value;
  toJson(value: Exclude<Value, undefined>): unknown;
  /** @throws Error if the JSON value has another type */
  fromJson(json: unknown): Value;
}

type Fields = Record<string, Field<unknown>>;

export type MessageOf<M> = M extends Message<infer Value> ? Value : never;

export interface Message<Value> {
  encode(value: Partial<Value>): Uint8Array<ArrayBuffer>;
  /** @throws Error if the bytes are not a message of this kind */
  decode(bytes: Uint8Array): Value;
  toJson(value: Partial<Value>): Record<string, unknown>;
  /** @throws Error if the JSON is not a message of this kind */
  fromJson(json: unknown): Value;
}

const EMPTY = new Uint8Array(0);

/** Reads and writes a field whose JSON value is the value itself. */
function unchangedInJson<Value>(no: number, isValue: (json: unknown) => json is Value, type: string) {
  return {
    toJson: (value: Value) => value,
    fromJson(json: unknown): Value {
      if (isValue(json)) return json;
      throw new Error(`field ${no} is not ${type}`);
    },
  };
}

const isWhole = (json: unknown): json is number => Number.isInteger(json);
const isBoolean = (json: unknown): json is boolean => typeof json === 'boolean';
const isText = (json: unknown): json is string => typeof json === 'string';

export function int32(no: number): Field<number> {
  return {
    no,
    wireType: WireType.Varint,
    default: () => 0,
    write: (writer, value) => writer.int32(value),
    read: (reader) => reader.int32(),
    ...unchangedInJson(no, isWhole, 'a whole number'),
  };
}

/** Rounds to the nearest number beyond the safe integers. */
export function int64(no: number): Field<number> {
  return {
    no,
    wireType: WireType.Varint,
    default: () => 0,
    write: (writer, value) => writer.int64(value),
    read: (reader) => Number(reader.int64()),
    ...unchangedInJson(no, isWhole, 'a whole number'),
  };
}

export function bool(no: number): Field<boolean> {
  return {
    no,
    wireType: WireType.Varint,
    default: () => false,
    write: (writer, value) => writer.bool(value),
    read: (reader) => reader.bool(),
    ...unchangedInJson(no, isBoolean, 'true or false'),
  };
}

export function string(no: number): Field<string> {
  return {
    no,
    wireType: WireType.LengthDelimited,
    default: () => '',
    write: (writer, value) => writer.string(value),
    read: (reader) => reader.string(),
    ...unchangedInJson(no, isText, 'a text'),
  };
}

/** UTF-8 bytes, in JSON a string. */
export function bytes(no: number): Field<Uint8Array> {
  const text = string(no);
  return {
    no,
    wireType: WireType.LengthDelimited,
    default: () => EMPTY,
    write: (writer, value) => writer.bytes(value),
    read: (reader) => reader.bytes(),
    toJson: (value) => Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8'),
    fromJson: (json) => Buffer.from(text.fromJson(json)),
  };
}

/** A field for which absence differs from the default. */
export function optional<Value>(field: Field<Value>): Field<Value | undefined> {
  return { ...field, default: () => undefined } as Field<Value | undefined>;
}

export function nested<Value>(no: number, of: Message<Value>): Field<Value | undefined> {
  return {
    no,
    wireType: WireType.LengthDelimited,
    default: () => undefined,
    write: (writer, value) => writer.bytes(of.encode(value)),
    read: (reader) => of.decode(reader.bytes()),
    toJson: (value) => of.toJson(value),
    fromJson: (json) => of.fromJson(json),
  };
}

/** @throws Error when a message has more than `max` */
export function repeated<Value>(field: Field<Value>, max: number): Field<Value[]> {
  const tooMany = () => new Error(`more than ${max} values of field ${field.no}`);
  return {
    ...field,
    default: () => [],
    write(writer, values) {
      for (const [i, value] of values.entries()) {
        if (i > 0) writer.tag(field.no, field.wireType);
        field.write(writer, value as Exclude<Value, undefined>);
      }
    },
    read(reader, before) {
      if (before.length === max) throw tooMany();
      return [...before, field.read(reader, field.default())];
    },
    toJson: (values) => values.map((value) => field.toJson(value as Exclude<Value, undefined>)),
    fromJson(json) {
      if (!Array.isArray(json)) throw new Error(`field ${field.no} is not an array`);
      if (json.length > max) throw tooMany();
      return json.map((value) => field.fromJson(value));
    },
  };
}

export function message<F extends Record<string, unknown>>(fields: { [Name in keyof F]: Field<F[Name]> }): Message<F> {
  const byName = Object.entries(fields as Fields);
  const byNo = new Map(byName.map(([name, field]) => [field.no, { name, field }]));
  return {
    encode(value) {
      const writer = new BinaryWriter();
      for (const [name, field] of byName) {
        const given = (value as Record<string, unknown>)[name];
        if (given === undefined || isDefault(given, field)) continue;
        writer.tag(field.no, field.wireType);
        field.write(writer, given as Exclude<unknown, undefined>);
      }
      return writer.finish();
    },
    decode(bytes) {
      const reader = new BinaryReader(bytes);
      const value: Record<string, unknown> = {};
      for (const [name, field] of byName) value[name] = field.default();
      while (reader.pos < reader.len) {
        const [no, wireType] = reader.tag();
        const known = byNo.get(no);
        if (known?.field.wireType === wireType) value[known.name] = known.field.read(reader, value[known.name]);
        else reader.skip(wireType, no);
      }
      return value as F;
    },
    toJson(value) {
      const json: Record<string, unknown> = {};
      for (const [name, field] of byName) {
        const given = (value as Record<string, unknown>)[name];
        if (given !== undefined) json[name] = field.toJson(given as Exclude<unknown, undefined>);
      }
      return json;
    },
    fromJson(json) {
      if (!isJsonObject(json)) throw new Error('a message is not a JSON object');
      const value: Record<string, unknown> = {};
      for (const [name, field] of byName)
        value[name] = json[name] == null ? field.default() : field.fromJson(json[name]);
      return value as F;
    },
  };
}

/** Proto3 omits default values unless the field is optional. */
function isDefault(value: unknown, field: Field<unknown>): boolean {
  const byDefault = field.default();
  if (value === byDefault) return true;
  const isEmpty = (value: unknown) => (value instanceof Uint8Array || Array.isArray(value)) && value.length === 0;
  return isEmpty(value) && isEmpty(byDefault);
}
