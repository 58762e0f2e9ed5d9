import { z } from 'zod'

/** One path in a schema: `fields[].key`, `naming.name.pattern`, `properties.*.fixed`. */
export interface SchemaPath {
  readonly path: string
  readonly schema: z.ZodType
  /** The default value; undefined for a required or an optional value. */
  readonly usual: unknown
  readonly isOptional: boolean
  readonly description: string
}

/** Returns the paths of a schema in order; nested paths follow their parents. */
export function schemaPaths(schema: z.ZodType, path = ''): SchemaPath[] {
  const { inner, usual, isOptional, description } = unwrapped(schema)
  const own = path === '' ? [] : [{ path, schema: inner, usual, isOptional, description }]
  return [...own, ...innerPaths(inner, path)]
}

function innerPaths(inner: z.ZodType, path: string): SchemaPath[] {
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  if (inner instanceof z.ZodObject)
    return Object.entries<z.ZodType>(inner.shape).flatMap(([key, one]) => schemaPaths(one, at(key)))
  if (inner instanceof z.ZodArray) return innerPaths(unwrapped(inner.element as z.ZodType).inner, `${path}[]`)
  if (inner instanceof z.ZodRecord) return innerPaths(unwrapped(inner.valueType as z.ZodType).inner, at('*'))
  if (!(inner instanceof z.ZodUnion)) return []
  const all = (inner.options as z.ZodType[]).flatMap((one) => innerPaths(unwrapped(one).inner, path))
  return [...new Map(all.map((one) => [one.path, one])).values()]
}

/** Removes the wrappers of a schema: optional and default. */
function unwrapped(schema: z.ZodType): Omit<SchemaPath, 'path' | 'schema'> & { readonly inner: z.ZodType } {
  let [inner, usual, isOptional] = [schema, undefined as unknown, false]
  let description = inner.description
  for (;;) {
    if (inner instanceof z.ZodDefault) usual ??= inner.def.defaultValue
    else if (inner instanceof z.ZodOptional) isOptional = true
    else if (!(inner instanceof z.ZodNullable)) break
    inner = inner.unwrap() as z.ZodType
    description ??= inner.description
  }
  return { inner, usual, isOptional, description: description ?? '' }
}

/** Returns the paths of a schema that a value uses. */
export function usedPaths(value: unknown, schema: z.ZodType, path = ''): string[] {
  const { inner } = unwrapped(schema)
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const own = path === '' ? [] : [path]
  if (typeof value !== 'object' || value === null) return own
  if (inner instanceof z.ZodArray && Array.isArray(value))
    return [...own, ...value.flatMap((one) => usedPaths(one, inner.element as z.ZodType, `${path}[]`))]
  if (inner instanceof z.ZodRecord)
    return [...own, ...Object.values(value).flatMap((one) => usedPaths(one, inner.valueType as z.ZodType, at('*')))]
  const schemas = inner instanceof z.ZodUnion ? (inner.options as z.ZodType[]) : [inner]
  const shapes = schemas.flatMap((one) => (one instanceof z.ZodObject ? [one.shape as Record<string, z.ZodType>] : []))
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, one]) => {
      const known = shapes.find((shape) => key in shape)?.[key]
      return known ? usedPaths(one, known, at(key)) : []
    }),
  ]
}
