/**
 * Converts a CRD's structural schema to a JSON Schema of the same shape. Kubernetes extensions are replaced by the
 * TypeScript type that they mean. Rules that only restrict values are left out, because TypeScript cannot express
 * them.
 */

/** The fields of `JSONSchemaProps` (apiextensions.k8s.io/v1) that determine types. */
export interface CrdSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, CrdSchema>>;
  readonly additionalProperties?: CrdSchema | boolean;
  readonly items?: CrdSchema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

/** A schema for json-schema-to-typescript. */
export type TypeSchema = Record<string, unknown>;

/** The type of an object whose fields are not declared. */
const anything = 'Record<string, unknown>';

/** The types of the fields that every embedded object has. */
const embedded: Readonly<Record<string, TypeSchema>> = {
  apiVersion: { tsType: 'string' },
  kind: { tsType: 'string' },
  metadata: { tsType: 'ObjectMeta' },
};

function described({ description, nullable }: CrdSchema): TypeSchema {
  return {
    ...(description === undefined ? {} : { description: description.trim() }),
    ...(nullable === true ? { nullable } : {}),
  };
}

function objectSchema(schema: CrdSchema, own: Readonly<Record<string, TypeSchema>>): TypeSchema {
  const { required, additionalProperties } = schema;
  const properties: Record<string, TypeSchema> = { ...own };
  // Sorted, because an API server returns the fields sorted and a file has them in any order.
  const sorted = Object.entries(schema.properties ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, value] of sorted) {
    if (Object.hasOwn(own, name)) continue;
    const field = { value: typeSchema(value), enumerable: true, configurable: true };
    // Defined, not assigned, because the name may be `__proto__`.
    Object.defineProperty(properties, name, field);
  }
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const values = typeof additionalProperties === 'object' ? typeSchema(additionalProperties) : open;
  return {
    type: 'object',
    properties,
    additionalProperties: additionalProperties === true ? true : values,
    ...(required === undefined ? {} : { required: [...required] }),
  };
}

/** Converts the schema of a value. */
export function typeSchema(schema: CrdSchema): TypeSchema {
  const head = described(schema);
  if (schema['x-kubernetes-int-or-string'] === true) return { ...head, tsType: 'number | string' };
  const names = Object.keys(schema.properties ?? {});
  if (schema['x-kubernetes-embedded-resource'] === true) {
    const others = names.filter((name) => !Object.hasOwn(embedded, name));
    if (others.length === 0) return { ...head, tsType: `KubernetesObject & ${anything}` };
    return { ...head, ...objectSchema(schema, embedded) };
  }
  if (schema.enum?.every((value) => value === null || typeof value !== 'object')) {
    return { ...head, enum: [...(schema.enum ?? [])] };
  }
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'integer':
    case 'number':
      return { ...head, type: schema.type };
    case 'array':
      return { ...head, type: 'array', items: typeSchema(schema.items ?? {}) };
    case 'object':
      if (names.length === 0 && typeof schema.additionalProperties !== 'object') {
        return { ...head, tsType: anything };
      }
      return { ...head, ...objectSchema(schema, {}) };
    default:
      return { ...head, tsType: 'unknown' };
  }
}

/** Converts the schema of the object itself. Its spec and status get names of their own. */
export function rootSchema(
  schema: CrdSchema,
  own: Readonly<Record<string, TypeSchema>>,
  names: { readonly root: string; readonly spec: string; readonly status: string },
): TypeSchema {
  const root: TypeSchema = {
    ...described(schema),
    ...objectSchema(schema, own),
    title: names.root,
  };
  const properties = root['properties'] as Record<string, TypeSchema>;
  for (const part of ['spec', 'status'] as const) {
    const type = properties[part];
    if (type?.['properties'] !== undefined) type['title'] = names[part];
  }
  const required = [...new Set([...(schema.required ?? []), 'metadata'])];
  return { ...root, required: required.filter((name) => name !== 'apiVersion' && name !== 'kind') };
}
