import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import { strings } from '../../src/cards/shared/messages.ts'
import {
  type AuditEntry,
  type Explanation,
  explain,
  explanation,
  explanationCodes,
  explanationKeys,
  type Request,
} from '../../src/core/index.ts'
import { mailboxes } from '../support/card-mailboxes.ts'
import { dana, kim, requests, viewerOf } from '../support/card-requests.ts'
import { textOf } from '../support/cards.ts'
import { cards } from '../support/english-cards.ts'
import { cases, now } from '../support/explained-requests.ts'

const all: readonly { request: Request; timeline?: readonly AuditEntry[]; inDigest?: readonly string[] }[] = [
  ...Object.values(cases),
  ...[...Object.values(requests), ...Object.values(mailboxes)].map((request) => ({ request })),
]
/** All texts and numbers in a value. */
const leaves = (value: unknown): (string | number)[] => {
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : []
}
const secondsBetween = (moments: readonly number[]): Set<number> =>
  new Set(moments.flatMap((from) => moments.map((to) => Math.round((to - from) / 1000))))

/** The facts of an explanation that are neither in the request nor in its timeline or the clock. */
function invented(one: Explanation, request: Request, timeline: readonly AuditEntry[]): string[] {
  const known = leaves([request, timeline])
  const text = known.join('\n')
  const moments = known.filter((leaf) => /^\d{4}-\d\d-\d\dT/.test(String(leaf))).map((leaf) => Date.parse(String(leaf)))
  const isKnown = (name: string, value: string | number): boolean => {
    if (name === 'why') return explanationKeys.some((key) => key === `${one.code}.${value}`)
    if (name === 'seconds') return secondsBetween([...moments, now.getTime()]).has(Number(value))
    if (name === 'count') return request.approvals.some(({ reminders = [] }) => reminders.length === value)
    if (typeof value === 'number') return known.includes(value)
    return value.split(', ').every((part) => text.includes(part))
  }
  const facts = Object.entries(one.facts).filter(([name, value]) => !isKnown(name, value))
  const people = (one.people ?? []).filter((person) => !JSON.stringify([request, timeline]).includes(person.id))
  const at = one.at !== undefined && !text.includes(one.at) ? [one.at] : []
  return [...facts.map(([name]) => name), ...people.map(({ id }) => id), ...at]
}

describe('an explanation', () => {
  it.each(Object.entries(cases))('contains %s', (key, { request, timeline = [], inDigest, says }) => {
    const lines = explain(request, timeline, now, new Set(inDigest))
    expect(lines.map(apiTexts.explanation)).toContain(says)
    const found = lines.find((one) => apiTexts.explanation(one) === says)
    const [code, why] = key.split('.')
    expect([found?.code, why && found?.facts['why']]).toEqual([code, why])
  })

  it('announces no reminder and no escalation while the address is taken', () => {
    const waiting = cases['will-remind'].request
    const { addressConflict } = requests.addressTaken
    const codes = (inDigest: readonly string[]) =>
      explain({ ...waiting, addressConflict }, [], now, new Set(inDigest)).map(({ code }) => code)
    for (const inDigest of [[], [dana.id]]) {
      expect(codes(inDigest)).toContain('will-expire')
      for (const code of ['will-remind', 'in-summary', 'will-escalate']) expect(codes(inDigest)).not.toContain(code)
    }
  })

  it.each(all)('fits its schema and has no unfilled placeholder ($request.status)', ({ request, timeline = [] }) => {
    for (const one of explain(request, timeline, now)) {
      expect(explanation.parse(one)).toEqual(one)
      expect(apiTexts.explanation(one).replace('{people}', '')).not.toMatch(/^$|\{\w+\}|undefined|NaN/)
    }
  })

  it('uses every code', () => {
    const used = new Set(
      all
        .flatMap(({ request, timeline = [], inDigest }) => explain(request, timeline, now, new Set(inDigest)))
        .map((one) => one.code),
    )
    expect([...used].toSorted()).toEqual([...explanationCodes].toSorted())
  })

  it('contains only facts of the request and its timeline', () => {
    const one = fc.constantFrom(...all)
    fc.assert(
      fc.property(one, one, one, fc.boolean(), (first, second, third, isPolicyKept) => {
        // Parts of several requests together are like one request with a long history.
        const { template, policy } = second.request
        const timeline = [...(first.timeline ?? []), ...(third.timeline ?? [])]
        const approvals = [...first.request.approvals, ...third.request.approvals].map((stage, index) => ({
          ...stage,
          stage: index + 1,
        }))
        const request: Request = { ...first.request, approvals, template, ...(isPolicyKept && policy && { policy }) }
        for (const line of explain(request, timeline, now))
          expect(invented(line, request, timeline), apiTexts.explanation(line)).toEqual([])
      }),
      { numRuns: 2000 },
    )
  })

  it('has one message for each line, by REST and on the card', () => {
    expect(Object.keys(strings.why.says).toSorted()).toEqual(explanationKeys.toSorted())
  })
})

describe('the card of an explanation', () => {
  const viewer = viewerOf(kim)

  it.each(all)('has all its topics and no unfilled placeholder ($request.status)', ({ request, timeline = [] }) => {
    const lines = explain(request, timeline, now)
    const text = textOf(cards.why(request, lines, viewer))
    expect(text.replace('{people}', '')).not.toMatch(/\{\w+\}|undefined|NaN/)
    const topics = Object.values(strings.why.topic).filter((topic) => text.includes(topic))
    expect(topics.length).toBe(new Set(lines.map(({ topic }) => topic)).size)
  })

  it('fits Teams’ limit for a request with a long history', () => {
    const long = (length: number) => '𝖆"é'.repeat(length).slice(0, length)
    const person = { ...kim, displayName: long(256) }
    const [stage] = requests.waiting.approvals
    const standIn: NonNullable<Request['approvals'][number]['standIns']>[number] = {
      ...{ person, insteadOf: [kim.id], why: 'escalated', as: 'admin' },
      since: requests.waiting.submittedAt,
    }
    const handed = { from: [person], to: person, by: person, at: requests.waiting.submittedAt, comment: long(500) }
    const request = {
      ...requests.waiting,
      details: { ...requests.waiting.details, displayName: long(256) },
      passedOver: [...Array.from({ length: 8 }, () => long(64))],
      approvals: Array.from({ length: 5 }, (_, index) => ({
        ...stage,
        ...{ stage: index + 1, rule: 'any' as const, decisions: [] },
        approvers: Array.from({ length: 100 }, () => person),
        standIns: Array.from({ length: 100 }, () => standIn),
        reassigned: Array.from({ length: 100 }, () => handed),
      })),
    }
    const card = cards.why(request, explain(request, [], now), viewer)
    expect(JSON.stringify(card).length * 2).toBeLessThan(25_000)
    expect(textOf(card)).toContain(strings.why.more.split(' ').slice(1).join(' '))
  })

  it('shows times in the viewer’s time zone, fields by their labels, and our texts for problems', () => {
    const shown = (key: keyof typeof cases, isAdmin = false) => {
      const { request, timeline = [] } = cases[key]
      return textOf(cards.why(request, explain(request, timeline, now), viewerOf(kim, { isAdmin })))
    }
    expect(shown('waits')).toContain('Approval 1 has waited for Dana Fox or Omar Haddad since 10:02.')
    expect(shown('stage-asked.noneOf')).toContain('because of Who works in it: Contoso and named partners.')
    expect(shown('stopped')).toContain('Microsoft 365 did not answer')
    expect(shown('stopped')).not.toContain('Microsoft Graph')
    expect(shown('stopped', true)).toContain('Microsoft Graph did not answer in time')
  })
})
