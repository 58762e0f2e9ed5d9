import { z } from 'zod'
import { schemaNames } from './openapi-names.ts'

/** A JSON Schema (2020-12), which is what OpenAPI 3.1 has for its own. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/** The schemas that stand once in the document, and how others refer to them. */
export interface SchemaBook {
  /** What is taken: fields with a default may be left out, and no other fields may be sent. */
  taken(schema: z.ZodType): JsonSchema
  /** What is answered: fields with a default are there. More fields may come with a later version. */
  answered(schema: z.ZodType): JsonSchema
  readonly components: Readonly<Record<string, JsonSchema>>
}

/** Makes JSON Schemas of zod's. Those with a name (`openapi-names.ts`) are collected, and referred to by it. */
export function createSchemaBook(): SchemaBook {
  const components: Record<string, JsonSchema> = {}
  const add = (name: string, schema: JsonSchema): void => {
    const known = components[name]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`the schema ${name} is another one where it is taken than where it is answered`)
    components[name] = schema
  }
  const convert = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema => {
    const {
      $schema: _,
      $defs = {},
      ...own
    } = z.toJSONSchema(schema, {
      io,
      metadata: schemaNames[io],
      unrepresentable: 'any',
      override: (context) => tidy(context, io),
    })
    for (const [name, definition] of Object.entries($defs)) add(name, referring(definition))
    return referring(own)
  }
  return { taken: (schema) => convert(schema, 'input'), answered: (schema) => convert(schema, 'output'), components }
}

/** What says the same again in more words goes, and so does the promise that an answer will never have more fields. */
function tidy({ zodSchema, jsonSchema }: TidyContext, io: 'input' | 'output'): void {
  const { description } = z.globalRegistry.get(zodSchema) ?? {}
  if (description !== undefined) jsonSchema.description ??= description
  if (jsonSchema.format === 'uuid' || jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}
type TidyContext = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0]

/** With references into the components of the document. */
function referring(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
}
