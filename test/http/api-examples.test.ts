import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { problemCodes, routes } from '../../src/http/index.ts'
import problems from '../../src/http/server/problem-examples.json' with { type: 'json' }

const calls = routes.flatMap((route) =>
  Object.entries(route.examples).map(([name, example]) => ({ name: `${route.id}, ${name}`, route, example })),
)

/** The documented schema of a body. */
function schemaOf(body: unknown): z.ZodType | undefined {
  if (body instanceof z.ZodType) return body
  const { documents, signed } = (body ?? {}) as { documents?: z.ZodType; signed?: z.ZodType }
  return documents ?? signed
}

describe('the examples of the API document', () => {
  it('exist for every route that answers with JSON', () => {
    const pages = ['readAbout', 'readPrivacy', 'readTerms']
    const without = routes.filter(({ examples }) => Object.keys(examples).length === 0).map(({ id }) => id)
    expect(without).toEqual(['showExport', 'downloadExport', 'readDocs', 'readDocsFile', ...pages])
  })

  it.each(calls)('match the schemas of their route: $name', ({ route, example }) => {
    const parts = [
      [route.params, example.params ?? {}],
      [route.query, example.query ?? {}],
      [schemaOf(route.body), example.body],
    ] as const
    for (const [schema = z.strictObject({}).optional(), value] of parts)
      expect(schema.safeParse(value).error).toBeUndefined()
    const answer = route.answers[example.status]
    expect(answer, `${route.id} answers ${example.status}`).toBeDefined()
    if (answer?.body && !(answer.mediaTypes && example.answer === undefined))
      expect(answer.body.safeParse(example.answer).error).toBeUndefined()
    else expect(example.answer).toBeUndefined()
  })

  it('include every problem', () => {
    expect(Object.keys(problems).toSorted()).toEqual(Object.keys(problemCodes).toSorted())
  })
})
