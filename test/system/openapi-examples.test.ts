import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Route, routes } from '../../src/http/index.ts'
import { alike } from '../support/alike.ts'
import { stages, webhookSecret } from '../support/example-stage.ts'
import { startIssuer, startRest } from '../support/rest.ts'
import { caller } from '../support/rest-caller.ts'
import { withService } from '../support/service.ts'

type Example = Route['examples'][string]
/** Examples that only another server can show: one that starts, and one with a single event. */
const elsewhere = ['readReadiness starting', 'readStats week']
const shown = routes.flatMap((route) =>
  Object.entries(route.examples).map(([name, example]) => ({ name: `${route.id} ${name}`, route, example })),
)

describe('an example of the API document matches the service:', () => {
  const service = withService({ WEBHOOK_SECRET: webhookSecret })
  const { call } = caller(service)
  const stage = stages(service, call)

  it.each(shown.filter(({ name }) => !elsewhere.includes(name)))('$name', async ({ name, route, example }) => {
    const { who, params, headers, sent } = (await (stage[name] ?? stage[route.id])?.()) ?? { who: 'kim' as const }
    const { body = example.body, headers: more } = sent?.(example.body) ?? {}
    const path = addressOf(route, { ...example, params: { ...example.params, ...params } })
    const answer = await call(who, route.method, path, { body, headers: { ...headers, ...more } })
    expect([answer.status, answer.text]).toEqual([example.status, expect.any(String)])
    if (example.answer !== undefined) expect(alike(asMuchAs(example, answer.body))).toEqual(alike(example.answer))
  })
})

describe('the API document', () => {
  it('contains the answer of a service that starts', async () => {
    const rest = await startRest(await startIssuer(), { starting: true })
    const example = shown.find(({ name }) => name === elsewhere[0])?.example
    const { status, body } = await rest.call('GET', '/readyz')
    expect({ status, answer: body }).toEqual({ status: example?.status, answer: example?.answer })
  })

  it.each(routes.map((route) => [route.id, route] as const))('contains each body and answer of %s', (_, route) => {
    const missing = Object.entries(route.answers).filter(
      ([status, { body, mediaTypes }]) =>
        Number(status) < 400 &&
        body !== null &&
        mediaTypes === undefined &&
        !body.safeParse(undefined).success &&
        !Object.values(route.examples).some((one) => one.status === Number(status) && one.answer !== undefined),
    )
    expect(missing.map(([status]) => status)).toEqual([])
    if (route.body) expect(Object.values(route.examples).some(({ body }) => body !== undefined)).toBe(true)
  })
})

function addressOf({ path }: Route, { params = {}, query = {} }: Example): string {
  const search = new URLSearchParams(query).toString()
  return path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '') + (search && `?${search}`)
}

/** Shortens a body like the example: the first entries of a long list, the first fields of a long document. */
function asMuchAs({ answer }: Example, body: unknown): unknown {
  for (const name of ['value', 'parts']) {
    const list = z.looseObject({ [name]: z.array(z.unknown()) })
    const [wanted, found] = [list.safeParse(answer), list.safeParse(body)]
    if (wanted.success && found.success)
      return { ...found.data, [name]: found.data[name]?.slice(0, wanted.data[name]?.length) }
  }
  const isPart = typeof answer === 'object' && answer !== null && 'openapi' in answer
  return isPart ? Object.fromEntries(Object.entries(Object(body)).filter(([key]) => key in answer)) : body
}
