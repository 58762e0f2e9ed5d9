import { problemExamples } from '../examples/problems.ts'
import { type AnswerHeader, answerHeaders, headersOfAll } from './headers.ts'
import type { JsonSchema } from './openapi-schemas.ts'
import { type ProblemCode, problemCodes, problemTypeOf } from './problem-codes.ts'

/** A part of the document: it is written as JSON, so its form is OpenAPI's matter. */
export type Part = Readonly<Record<string, unknown>>

/** References to headers of answers; those of `always` are in every answer, those of `sometimes` in some. */
export function headersOf(always: readonly AnswerHeader[], sometimes: readonly AnswerHeader[] = []): Part {
  const names = [...new Set([...headersOfAll, ...always, ...sometimes])]
  const must = new Set<AnswerHeader>([...headersOfAll, ...always])
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${must.has(name) ? name : `${name}-sometimes`}` }]),
  )
}

/** Each header twice: one that is always there, and one that may be. */
export const headerComponents = (): Part =>
  Object.fromEntries(
    Object.entries(answerHeaders).flatMap(([name, { description, schema, example }]) => [
      [name, { description, schema, example, required: true }],
      [`${name}-sometimes`, { description, schema, example }],
    ]),
  )

/** The content of a refusal with one of these codes, all of one status. */
export function problemContent(codes: readonly ProblemCode[]): Part {
  const status = [...new Set(codes.map((code) => problemCodes[code].status))]
  const narrowed: JsonSchema = {
    type: 'object',
    properties: {
      status: { enum: status },
      code: { enum: [...codes] },
      type: { enum: codes.map(problemTypeOf) },
    },
  }
  const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, narrowed] }
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return { 'application/problem+json': { schema, examples: Object.fromEntries(examples) } }
}

/** What a refusal with one of these codes says, and carries. */
export const describeProblems = (codes: readonly ProblemCode[]): string =>
  codes.map((code) => `\`${code}\`: ${problemCodes[code].means} ${problemCodes[code].remedy}`).join('\n\n')

function headersOfProblems(codes: readonly ProblemCode[], sometimes: readonly AnswerHeader[]): Part {
  const each = codes.map((code) => problemCodes[code].headers)
  const always = (each[0] ?? []).filter((name) => each.every((headers) => headers.includes(name)))
  const perhaps = codes.flatMap((code) => problemCodes[code].sometimes ?? [])
  return headersOf(always, [...each.flat(), ...perhaps, ...sometimes])
}

/** The refusals of one status as a response that stands once in the document, and a reference to it. */
export interface RefusalBook {
  refused(codes: readonly ProblemCode[], sometimes: readonly AnswerHeader[]): Part
  readonly components: Part
}

export function createRefusalBook(): RefusalBook {
  const components: Record<string, Part> = {}
  return {
    components,
    refused(codes, sometimes) {
      const name = `${sometimes.length > 0 ? '' : 'public.'}${codes.join('.')}`
      components[name] ??= {
        description: describeProblems(codes),
        headers: headersOfProblems(codes, sometimes),
        content: problemContent(codes),
      }
      return { $ref: `#/components/responses/${name}` }
    },
  }
}

/** The example of every code, as the service answers it. */
export const problemExampleComponents = (): Part =>
  Object.fromEntries([...problemExamples].map(([code, value]) => [code, { summary: problemCodes[code].means, value }]))
