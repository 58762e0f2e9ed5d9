import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { from, originNow, originOf, originOfJob, traceHeaders, traceparentToEnqueue } from '../../src/core/index.ts'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

describe('a traceparent', () => {
  it.each([
    ['of version 00', `00-${trace}-${span}-01`, { trace, sampled: true }],
    ['that nobody records', `00-${trace}-${span}-00`, { trace, sampled: false }],
    ['with a flag that came later', `00-${trace}-${span}-03`, { trace, sampled: true }],
    ['with spaces around it', ` 00-${trace}-${span}-00 `, { trace, sampled: false }],
    ['of a later version', `01-${trace}-${span}-01`, { trace, sampled: true }],
    ['of a later version that says more', `01-${trace}-${span}-01-what-comes`, { trace, sampled: true }],
  ])('%s is taken', (_, value, expected) => {
    expect(originOf(value)).toEqual(expected)
  })

  it.each([
    ['none', undefined],
    ['an empty one', ''],
    ['one in capitals', `00-${trace.toUpperCase()}-${span}-01`],
    ['one of zeros', `00-${'0'.repeat(32)}-${span}-01`],
    ['one without a parent', `00-${trace}-${'0'.repeat(16)}-01`],
    ['one of the version that is none', `ff-${trace}-${span}-01`],
    ['version 00 that says more', `00-${trace}-${span}-01-more`],
    ['one that is too short', `00-${trace.slice(1)}-${span}-01`],
    ['one without flags', `00-${trace}-${span}`],
    ['two in one header', `00-${trace}-${span}-01, 00-${trace}-${span}-01`],
    ['words', 'Kim Lee'],
    ['a number', 4],
    ['an object', { traceparent: `00-${trace}-${span}-01` }],
  ])('%s gives none', (_, value) => {
    expect(originOf(value)).toEqual({})
  })
})

describe('a trace', () => {
  it('goes into what is called, each time with a span of its own, and whether it is recorded goes along', async () => {
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

  it('begins where there is none, and stays the same within', () => {
    const [outer, inner] = from({ from: 'rest' }, () => [originNow(), from({ from: 'chat' }, originNow)])
    expect(outer?.trace).toMatch(/^[0-9a-f]{32}$/)
    expect(inner).toMatchObject({ from: 'chat', trace: outer?.trace })
    expect(from({ from: 'rest' }, originNow).trace).not.toBe(outer?.trace)
  })

  it('is none outside of anything that was begun', () => {
    expect(traceHeaders()).toEqual({})
    expect(originNow()).toEqual({ from: 'job' })
  })

  it('goes with a job, and a job that nobody ordered begins one', () => {
    const id = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
    const traceparent = from({ from: 'chat', trace }, traceparentToEnqueue)
    expect(originOfJob(id, { v: 1, traceparent })).toMatchObject({ from: 'job', job: id, trace })
    const own = originOf(traceparentToEnqueue())
    expect(own.trace).toMatch(/^[0-9a-f]{32}$/)
    expect(own).not.toEqual(originOf(traceparentToEnqueue()))
  })

  it.each([[{ v: 1 }], [null], ['text'], [{ v: 1, traceparent: 'Kim Lee' }]])(
    'of a job with the data %j is the digits of its id: the same at each attempt',
    (data) => {
      const id = '6f2f8f0e-3a51-4c0b-9a57-0d6f3a1f7c11'
      expect(originOfJob(id, data).trace).toBe('6f2f8f0e3a514c0b9a570d6f3a1f7c11')
    },
  )
})
