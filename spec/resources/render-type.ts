/** Converts an OpenAPI schema to TypeScript text with the field names of the wire format. */
import type { Schema } from './discovery.ts';

/** Schemas whose types are written by hand, all in `meta-v1`. */
export const handWritten: ReadonlyMap<string, string> = new Map([
  ['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta', 'ObjectMeta'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference', 'OwnerReference'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.Time', 'Time'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime', 'MicroTime'],
  ['io.k8s.apimachinery.pkg.api.resource.Quantity', 'Quantity'],
  ['io.k8s.apimachinery.pkg.util.intstr.IntOrString', 'IntOrString'],
]);

/** Types of schemas that OpenAPI cannot express. */
const inPlace: ReadonlyMap<string, string> = new Map([
  ['io.k8s.apimachinery.pkg.runtime.RawExtension', 'unknown'],
  ['io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1', 'unknown'],
  ['JSON', 'unknown'],
  ['JSONSchemaPropsOrArray', 'JSONSchemaProps | JSONSchemaProps[]'],
  ['JSONSchemaPropsOrBool', 'JSONSchemaProps | boolean'],
  ['JSONSchemaPropsOrStringArray', 'JSONSchemaProps | string[]'],
]);

const apiextensions = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.';

/** Returns the text of a schema that is written in place, or `undefined` if it is an interface to refer to. */
export function textInPlace(name: string): string | undefined {
  const short = name.startsWith(apiextensions) ? name.slice(apiextensions.length) : name;
  return inPlace.get(short);
}

/** Returns the full name of the schema to which a reference points. */
export function referred(schema: Schema): string | undefined {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return ref?.slice('#/components/schemas/'.length);
}

/** Returns the type of a value. `refer` returns the name of another schema and records its use. */
export function typeText(schema: Schema, refer: (name: string) => string): string {
  const target = referred(schema);
  if (target !== undefined) return refer(target);
  if (schema.type === 'string' && schema.enum !== undefined && schema.enum.length <= 30) {
    // Any string is allowed, because a newer server may send values that are not listed.
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

/** Returns the first sentence of a description as a doc comment, or '' if there is none. */
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

/** Returns a property name, quoted if it is not an identifier (`x-kubernetes-validations`). */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** Returns a string literal. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function parenthesized(text: string): string {
  return /^[\w<>, [\].]+$/.test(text) ? text : `(${text})`;
}
