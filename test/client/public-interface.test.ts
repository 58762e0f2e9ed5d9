import { expect, expectTypeOf, test } from 'vitest'
import type { z } from 'zod'
import { type MailboxRequest, type ProblemCode, problemCodes, type SiteRequest } from '../../src/client/index.ts'
import type { mailboxRequest, siteRequest } from '../../src/core/index.ts'
import { type ProblemCode as ServedCode, problemCodes as servedCodes } from '../../src/http/index.ts'
import { readSources, valueImports } from '../support/sources.ts'

test('the client’s entry imports only the client and the library that verifies webhooks', () => {
  const sources = new Map(readSources('src').map((source) => [source.path, source]))
  const reached = new Set<string>()
  const vendors = new Set<string>()
  const walk = (path: string): void => {
    const source = sources.get(path)
    if (!source) throw new Error(`${path} does not exist`)
    if (reached.has(path)) return
    reached.add(path)
    for (const to of valueImports(source)) walk(to)
    for (const { from, to } of source.imports) if (to === undefined) vendors.add(from)
  }
  walk('client/index.ts')
  expect([...reached].filter((path) => !path.startsWith('client/'))).toEqual([])
  expect([...vendors]).toEqual(['standardwebhooks'])
})

test('the client knows all problem codes of the service', () => {
  expect([...problemCodes].sort()).toEqual(Object.keys(servedCodes).sort())
  expectTypeOf<ProblemCode>().toEqualTypeOf<ServedCode>()
})

test('the types of bodies match the service, and null is allowed in optional fields', () => {
  expectTypeOf<z.input<typeof mailboxRequest>>().toExtend<MailboxRequest>()
  expectTypeOf<z.input<typeof siteRequest>>().toExtend<SiteRequest>()
  expectTypeOf<keyof MailboxRequest>().toEqualTypeOf<keyof z.input<typeof mailboxRequest>>()
  expectTypeOf<{ displayName: string; templateId: string; alias: null; owners: null }>().toExtend<SiteRequest>()
  expectTypeOf<{ name: string; displayName: string; capacity: null; tags: null }>().toExtend<MailboxRequest>()
  expectTypeOf<{ name: null; displayName: string }>().not.toExtend<MailboxRequest>()
})
