import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { faultLines } from '../../src/client/command-line/show.ts'
import { caller } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'

const json = { 'content-type': 'application/json' }

describe('a refusal explains the fault and the next action', () => {
  const service = withService()
  const { call, problem } = caller(service)
  const put = (id: string, headers: Record<string, string>) =>
    call('sam', 'PUT', `/templates/v1/${id}`, {
      body: { kind: 'sharedMailbox', name: 'A' },
      headers: { ...json, ...headers },
    })

  it('for If-None-Match: * and an existing template', async () => {
    const answer = await put(templates.sharedMailbox, { 'if-none-match': '*' })
    expect([answer.status, problem(answer).detail]).toEqual([
      412,
      'A template with this id exists. To change it, read it and send its ETag as If-Match.',
    ])
  })

  it('for If-Match and a missing template', async () => {
    const answer = await put(randomUUID(), { 'if-match': '"3"' })
    expect([answer.status, problem(answer).detail]).toEqual([
      412,
      'This template does not exist. To create it, send If-None-Match: * without If-Match.',
    ])
  })

  it.each([
    ['1000', 'too-large', 'limit may be at most 100.', '100'],
    ['101', 'too-large', 'limit may be at most 100.', '100'],
    ['0', 'too-small', 'limit must be at least 1.', '1'],
  ])('for limit=%s, with the bound', async (limit, code, detail, suggestion) => {
    const { errors } = problem(await call('kim', 'GET', `/requests/v1/?limit=${limit}`))
    expect(errors).toEqual([{ pointer: '#/limit', code, detail, suggestion }])
  })

  it('for text instead of a boolean', async () => {
    const body = { name: 'r', displayName: 'R', templateId: templates.meetingRoom, isWheelChairAccessible: 'ja' }
    const answer = await call('kim', 'POST', '/requests/v1/preview', { body })
    const { errors } = z.object({ errors: z.array(z.unknown()) }).parse(answer.body)
    expect(errors).toContainEqual({
      pointer: '#/isWheelChairAccessible',
      code: 'wrong-type',
      detail: 'isWheelChairAccessible must be true or false.',
    })
  })
})

describe('a list of faults on the command line', () => {
  it('shows a suggestion once', () => {
    const taken = {
      pointer: '#/alias',
      code: 'name-taken',
      detail: 'The address apollo is taken. Try apollo-2.',
      suggestion: 'apollo-2',
    }
    const bound = { pointer: '#/x', code: 'fixed', detail: 'x is set by the template.', suggestion: '7' }
    expect(faultLines([taken, bound])).toEqual([
      '  --alias: The address apollo is taken. Try apollo-2.',
      '  x: x is set by the template. Try “7”.',
    ])
  })
})
