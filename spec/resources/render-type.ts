/** Turns one OpenAPI schema into TypeScript text: what is on the wire, with the names of the wire. */
import type { Schema } from './discovery.ts';

/** Schemas that are better written by hand than derived, all in `meta-v1`. */
export const handWritten: ReadonlyMap<string, string> = new Map([
  ['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'ObjectMeta'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', 'OwnerReference'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', 'Time'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', 'MicroTime'],
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'Quantity'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'IntOrString'],
]);

/** Schemas for which OpenAPI has no words. */
const inPlace: ReadonlyMap<string, string> = new Map([
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'unknown'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', 'unknown'],
  ['JSON', 'unknown'],
  ['JSONSchemaPropsOrArray', 'JSONSchemaProps | JSONSchemaProps[]'],
  ['JSONSchemaPropsOrBool', 'JSONSchemaProps | boolean'],
  ['JSONSchemaPropsOrStringArray', 'JSONSchemaProps | string[]'],
]);

const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.';

/** The text that stands for a schema by itself, or nothing when it is an interface to refer to. */
export function textInPlace(name: string): string | undefined {
  const short = name.startsWith(apiextensions) ? name.slice(apiextensions.length) : name;
  return inPlace.get(short);
}

/** The full name that a reference points at. */
export function referred(schema: Schema): string | undefined {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return ref?.slice('#/components/schemas/'.length);
}

/** The type of a value. `refer` names another schema, and notes that it is used. */
export function typeText(schema: Schema, refer: (name: string) => string): string {
  const target = referred(schema);
  if (target !== undefined) return refer(target);
  if (schema.type === 'string' && schema.enum !== undefined && schema.enum.length <= 30) {
    // Open: a newer server may send what this list does not have.
    const known = schema.enum.filter((value) => value !== '').map(quoted);
    return [...known, '(string & {})'].join(' | ');
  }
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
    case 'array':
      return `${parenthesized(typeText(schema.items ?? {}, refer))}[]`;
    case 'object': {
      const values = schema.additionalProperties;
      return `Record<string, ${typeof values === 'object' ? typeText(values, refer) : 'unknown'}>`;
    }
    default:
      return 'unknown';
  }
}

/** The first sentence of a description as a doc comment, or nothing. */
export function docComment(description: string | undefined, indent: string): string {
  const flat = (description ?? '').replace(/\s+/g, ' ').trim();
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs|Ex|eg|ie))\.(?= [A-Z"'`[(]|$)/.exec(flat);
  const sentence = (end === null ? flat : flat.slice(0, end.index + 1))
    .replace(/ ?Possible enum values:.*$/, '')
    .replaceAll('*/', '*\\/');
  if (sentence === '') return '';
  const width = 96 - indent.length;
  if (sentence.length <= width - 3) return `${indent}/** ${sentence} */\n`;
  const lines = [''];
  for (const word of sentence.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}\n`).join('')}${indent} */\n`;
}

/** A property name, quoted where it is no identifier (`x-kubernetes-validations`). */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** A string literal. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function parenthesized(text: string): string {
  return /^[\w<>, [\].]+$/.test(text) ? text : `(${text})`;
}
