import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { from, originNow, originOf, originOfJob, traceHeaders, traceparentToEnqueue } from '../../src/core/index.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

describe('a traceparent', () => {
  it.each([
    ['of version 00', `00-${trace}-${span}-01`, { trace, sampled: true }],
    ['without the flag "sampled"', `00-${trace}-${span}-00`, { trace, sampled: false }],
    ['with a flag of a later version', `00-${trace}-${span}-03`, { trace, sampled: true }],
    ['with spaces around it', ` 00-${trace}-${span}-00 `, { trace, sampled: false }],
    ['of a later version', `01-${trace}-${span}-01`, { trace, sampled: true }],
    ['of a later version with more parts', `01-${trace}-${span}-01-what-comes`, { trace, sampled: true }],
  ])('%s is accepted', (_, value, expected) => {
    expect(originOf(value)).toEqual(expected)
  })

  it.each([
    ['a missing value', undefined],
    ['an empty text', ''],
    ['a trace id in capitals', `00-${trace.toUpperCase()}-${span}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${span}-01`],
    ['a parent id of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
    ['the invalid version ff', `ff-${trace}-${span}-01`],
    ['version 00 with more parts', `00-${trace}-${span}-01-more`],
    ['a trace id that is too short', `00-${trace.slice(1)}-${span}-01`],
    ['a value without flags', `00-${trace}-${span}`],
    ['two values in one header', `00-${trace}-${span}-01, 00-${trace}-${span}-01`],
    ['other text', 'Kim Lee'],
    ['a number', 4],
    ['an object', { traceparent: `00-${trace}-${span}-01` }],
  ])('is invalid: %s', (_, value) => {
    expect(originOf(value)).toEqual({})
  })
})

describe('a trace', () => {
  it('is sent with each outgoing call, with a new span id and the flag "sampled"', async () => {
    const headers = await from({ from: 'rest', trace, sampled: true }, async () => {
      await setImmediate()
      return [traceHeaders(), traceHeaders()]
    })
    const [one, other] = headers.map(({ traceparent = '' }) => traceparent)
    for (const traceparent of [one, other]) {
      expect(traceparent).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`))
      expect(originOf(traceparent)).toEqual({ trace, sampled: true })
    }
    expect(one).not.toBe(other)
  })

  it('starts with the outermost work and stays the same for nested work', () => {
    const [outer, inner] = from({ from: 'rest' }, () => [originNow(), from({ from: 'chat' }, originNow)])
    expect(outer?.trace).toMatch(/^[0-9a-f]{32}$/)
    expect(inner).toMatchObject({ from: 'chat', trace: outer?.trace })
    expect(from({ from: 'rest' }, originNow).trace).not.toBe(outer?.trace)
  })

  it('does not exist outside of any work', () => {
    expect(traceHeaders()).toEqual({})
    expect(originNow()).toEqual({ from: 'job' })
  })

  it('continues in an ordered job, and starts with a job of a timer', () => {
    const id = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
    const traceparent = from({ from: 'chat', trace }, traceparentToEnqueue)
    expect(originOfJob(id, { v: 1, traceparent })).toMatchObject({ from: 'job', job: id, trace })
    const own = originOf(traceparentToEnqueue())
    expect(own.trace).toMatch(/^[0-9a-f]{32}$/)
    expect(own).not.toEqual(originOf(traceparentToEnqueue()))
  })

  it.each([[{ v: 1 }], [null], ['text'], [{ v: 1, traceparent: 'Kim Lee' }]])(
    'has the digits of the job’s id for a job with the data %j, the same for each attempt',
    (data) => {
      const id = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
      expect(originOfJob(id, data).trace).toBe('6f2f8f0e3a514c0b9a570d6f3a1f7c11')
    },
  )
})
