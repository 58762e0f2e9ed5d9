import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ProblemCode, problemCodes } from '../../src/http/index.ts'
import { alike } from '../support/alike.ts'
import { contract } from '../support/contract.ts'
import { type Caller, caller, type RestAnswer } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'

const site = { displayName: 'Apollo', templateId: templates.workingGroup }
const withApproval = {
  ...site,
  templateId: templates.projectSite,
  metadata: { costCentre: '4711', audience: 'internal' },
}
const kimId = '11111111-aaaa-4aaa-8aaa-000000000001'
const json = { 'content-type': 'application/json' }
const shown = z
  .record(z.string(), z.object({ value: z.record(z.string(), z.unknown()) }))
  .parse(contract.components['examples'])

describe('the answer of each code equals the example in the API document:', () => {
  const service = withService()
  const { call } = caller(service)
  const ask = (body: unknown, headers: Record<string, string> = json) =>
    call('kim', 'POST', '/collab/v1/spo', { body, headers })
  const waiting = async (who: Caller = 'kim') => {
    const { body } = await call(who, 'POST', '/collab/v1/spo?another=true', { body: withApproval })
    return `/requests/v1/${z.object({ requestId: z.uuid() }).parse(body).requestId}`
  }
  const act = async (who: Caller, verb: string, body: object = {}, of: Caller = 'kim') =>
    call(who, 'POST', `${await waiting(of)}/${verb}`, { body })
  const twice = async (who: Caller, verb: string) => {
    const path = `${await waiting()}/${verb}`
    await call(who, 'POST', path, { body: {} })
    return call(who === 'dana' ? 'omar' : who, 'POST', path, { body: {} })
  }
  const write = (headers: Record<string, string>) =>
    call('sam', 'PUT', `/templates/v1/${templates.sharedMailbox}`, {
      body: { kind: 'sharedMailbox', name: 'A' },
      headers,
    })
  const reused = async () => {
    const key = { ...json, 'idempotency-key': randomUUID() }
    await ask(withApproval, key)
    return ask({ ...withApproval, displayName: 'Other' }, key)
  }
  const taken = async () => {
    await ask({ ...withApproval, alias: 'apollo' })
    return call('omar', 'POST', '/collab/v1/spo', {
      body: { ...withApproval, displayName: 'Another', alias: 'apollo' },
    })
  }

  const provoke: { readonly [C in ProblemCode]?: () => Promise<RestAnswer> } = {
    'validation-failed': () => ask({ templateId: site.templateId }),
    'comment-required': () => act('dana', 'reject'),
    'name-taken': taken,
    'duplicate-request': async () => {
      await ask({ ...withApproval, description: 'Twice' })
      return ask({ ...withApproval, description: 'Twice' })
    },
    'not-found': () => call('kim', 'GET', `/requests/v1/${randomUUID()}`),
    forbidden: () => act('kim', 'retry'),
    'self-approval': () => act('dana', 'approve', {}, 'dana'),
    'not-an-approver': () => act('sam', 'approve'),
    'already-decided': () => twice('dana', 'approve'),
    'already-ended': () => twice('kim', 'cancel'),
    'nudged-already': () => twice('kim', 'nudge'),
    'illegal-transition': () => act('sam', 'retry'),
    'stale-version': () => write({ 'if-match': '"x"' }),
    'malformed-json': () => ask('{'),
    'duplicate-key': () => ask('{"displayName":"Apollo","alias":"a","alias":"b"}'),
    'too-deep': () => ask(`{"metadata":${'['.repeat(10)}${']'.repeat(10)}}`),
    'idempotency-key-malformed': () => ask(site, { ...json, 'idempotency-key': 'a\tb' }),
    unauthenticated: () => ask(site, { ...json, authorization: '' }),
    'invalid-token': () =>
      call(
        { scope: 'api://0c0ffee0-3333-4333-8333-000000000002/App.ReadWrite.All', userId: kimId },
        'POST',
        '/collab/v1/spo',
        { body: site },
      ),
    'invalid-signature': () => call('kim', 'POST', '/webhooks/provisioning', { body: {} }),
    'insufficient-scope': () =>
      call({ appOnly: true, scope: `${service.app.url}/collab/App.ReadWrite.All` }, 'POST', '/collab/v1/spo', {
        body: site,
      }),
    'no-such-address': () => call('kim', 'GET', '/requests/v1/1042'),
    'not-acceptable': () => ask(site, { ...json, accept: 'text/html' }),
    'body-too-large': () => ask({ ...site, description: 'x'.repeat(65_536) }),
    'unsupported-media-type': () => ask('a', { 'content-type': 'text/plain' }),
    'idempotency-key-reused': reused,
    'precondition-required': () => write({}),
  }
  const checked = new Set<string>()
  afterAll(() => expect(Object.keys(provoke).filter((code) => !checked.has(code))).toEqual([]))

  it.each(Object.entries(provoke))('%s', async (code, provoked) => {
    const { status, body } = await provoked()
    checked.add(code)
    expect(status).toBe(problemCodes[code as ProblemCode].status)
    expect(alike(body)).toEqual(alike(shown[code]?.value))
  })
})
