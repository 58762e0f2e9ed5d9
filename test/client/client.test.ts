import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createClient, ProblemError, type ProvisioningRequest, StillUnderWayError } from '../../src/client/index.ts'
import type { requestView } from '../../src/core/index.ts'
import { routes } from '../../src/http/index.ts'
import type { accepted } from '../../src/http/routes/requests/index.ts'
import type { templateForAdmins } from '../../src/http/routes/templates/index.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { tokenFor } from '../support/tenant-control.ts'

const withApproval = {
  displayName: 'Apollo',
  templateId: templates.projectSite,
  metadata: { costCentre: '4711', audience: 'internal' },
}

/** Returns the documented schema of a route's answer. Undocumented fields are a difference. */
function answerOf(id: string, status = 200): z.ZodType {
  const body = routes.find((route) => route.id === id)?.answers[status]?.body
  if (!body) throw new Error(`there is no ${id} that answers ${status}`)
  return body
}

describe('the client with a running service', () => {
  const service = withService()
  const clientOf = (who: keyof typeof people) => {
    const simulatorUrl = service.app.endpoints.simulator?.url ?? ''
    const scopes = {
      collab: `${service.app.url}/collab/App.ReadWrite.All`,
      mail: `${service.app.url}/mail/App.ReadWrite.All`,
    }
    return createClient({
      baseUrl: `${service.app.url}/`,
      directoryUrl: simulatorUrl,
      token: (resource) =>
        resource === 'directory'
          ? tokenFor(simulatorUrl, people[who].id, 'https://graph.microsoft.com/Group.Read.All')
          : tokenFor(simulatorUrl, people[who].id, scopes[resource]),
    })
  }
  let kim: ReturnType<typeof clientOf>
  let dana: ReturnType<typeof clientOf>
  let sam: ReturnType<typeof clientOf>
  beforeAll(() => {
    kim = clientOf('kim')
    dana = clientOf('dana')
    sam = clientOf('sam')
  })

  it('creates a site, reports each change while it waits, and finds the group', async () => {
    const submitted = await kim.createSite(withApproval)
    answerOf('createSite', 202).parse(submitted)
    expect(submitted).toMatchObject({ approvalRequired: true, status: 'pendingApproval' })
    const states: string[] = []
    const waited = kim.waitForRequest(submitted.requestId, {
      async onChange({ status }) {
        states.push(status)
        if (states.length > 1) return
        const [approved, again] = await Promise.all(
          [1, 2].map(() =>
            dana.approve(submitted.requestId, { comment: 'Go ahead.', stage: 1, idempotencyKey: submitted.requestId }),
          ),
        )
        answerOf('approveRequest').parse(approved)
        expect(again).toEqual(approved)
      },
    })
    const done = await waited
    expect(states[0]).toBe('pendingApproval')
    expect([states.at(-1), done.status]).toEqual(['succeeded', 'succeeded'])
    expect(done).toEqual(await kim.getRequest(submitted.requestId))
    answerOf('readRequest').parse(done)
    const { resource } = z.object({ resource: z.object({ url: z.string() }) }).parse(done)
    expect(await kim.findProvisionedGroup(submitted.requestId)).toMatchObject({ url: resource.url })
    const found = await kim.waitForProvisionedGroup(submitted.requestId, { firstSeconds: 0 })
    expect(found).toEqual(await kim.findProvisionedGroup(submitted.requestId))
    expect(await kim.findProvisionedGroup(randomUUID())).toBeUndefined()
    answerOf('readTimeline').parse({ value: await kim.timeline(submitted.requestId) })
    answerOf('explainRequest').parse({ value: await kim.explanation(submitted.requestId) })
  })

  it('creates a mailbox with the token of the mailboxes API', async () => {
    const submitted = await kim.createMailbox({
      name: 'help',
      displayName: 'Help',
      templateId: templates.sharedMailbox,
    })
    answerOf('createMailbox', 202).parse(submitted)
    const { kind, status } = await kim.waitForRequest(submitted.requestId)
    expect([kind, status]).toEqual(['sharedMailbox', 'succeeded'])
  })

  it('rejects and cancels, and reports the end of the wait', async () => {
    const first = await kim.createSite({ ...withApproval, displayName: 'Borealis' })
    const error = await kim.waitForRequest(first.requestId, { timeoutSeconds: 1 }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StillUnderWayError)
    expect(error).toMatchObject({ kind: 'still-under-way', request: { requestId: first.requestId } })
    const rejected = await dana.reject(first.requestId, { comment: 'There is one already.' })
    answerOf('rejectRequest').parse(rejected)
    expect((await kim.waitForRequest(first.requestId)).status).toBe('rejected')
    const second = await kim.createSite({ ...withApproval, displayName: 'Cassini' })
    const cancelled = await kim.cancel(second.requestId, { comment: 'Not needed.' })
    answerOf('cancelRequest').parse(cancelled)
    expect(cancelled.status).toBe('cancelled')
  })

  it('lists single pages, and all pages one after the other', async () => {
    const page = await kim.listRequests({ limit: 2 })
    answerOf('listRequests').parse(page)
    expect([page.value.length, typeof page.nextCursor]).toEqual([2, 'string'])
    const all: ProvisioningRequest[] = []
    for await (const request of kim.allRequests({ limit: 1 })) all.push(request)
    expect(all.map(({ requestId }) => requestId).slice(0, 2)).toEqual(page.value.map(({ requestId }) => requestId))
    expect(all.length).toBeGreaterThan(3)
    const rejected = await kim.listRequests({ status: 'rejected', kind: 'teamSite' })
    expect(rejected.value.map(({ status }) => status)).toEqual(['rejected'])
  })

  it('finds requests that wait for an approver, and visible requests by reference', async () => {
    const { requestId } = await kim.createSite({ ...withApproval, displayName: 'Sirius' })
    const { reference } = await kim.getRequest(requestId)
    const idsIn = async (page: ReturnType<typeof kim.listRequests>) => (await page).value.map((one) => one.requestId)
    expect(await idsIn(dana.listRequests({ waitingFor: 'me' }))).toContain(requestId)
    expect(await idsIn(kim.listRequests({ waitingFor: 'me' }))).toEqual([])
    expect(await idsIn(kim.listRequests({ reference }))).toEqual([requestId])
    expect(await idsIn(kim.listRequests({ reference, waitingFor: 'me' }))).toEqual([])
    expect(await idsIn(dana.listRequests({ reference, waitingFor: 'me' }))).toEqual([requestId])
    expect(await idsIn(dana.listRequests({ reference: reference.toLowerCase() }))).toEqual([requestId])
    const own = await dana.createSite({ displayName: 'Vega', templateId: templates.workingGroup })
    const { reference: hers } = await dana.getRequest(own.requestId)
    expect(await idsIn(kim.listRequests({ reference: hers }))).toEqual([])
  })

  it('reads templates as a user and as an admin', async () => {
    const [mine, admins] = [await kim.templates(), await sam.templates()]
    for (const value of [mine, admins]) answerOf('listTemplates').parse({ value })
    expect(mine.some((one) => 'webhook' in one)).toBe(false)
    expect(admins.every((one) => 'webhook' in one)).toBe(true)
    answerOf('readTemplate').parse(await kim.template(templates.projectSite.toUpperCase()))
  })

  it('previews requests, with their faults', async () => {
    const body = { ...withApproval, displayName: 'Minerva' }
    const [good, bad] = [await kim.preview(body), await kim.preview({ ...body, owners: ['nobody'] })]
    for (const preview of [good, bad]) answerOf('previewRequest').parse(preview)
    expect([good.valid, bad.valid, bad.errors[0]?.pointer]).toEqual([true, false, '#/owners/0'])
    expect(await sam.preview(body, { as: people.kim.id })).toMatchObject({
      simulated: { person: { id: people.kim.id } },
    })
    await expect(kim.preview(body, { as: people.dana.id })).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('creates one request for one key, and refuses another body with this key', async () => {
    const key = { idempotencyKey: 'ticket 4711' }
    const body = { displayName: 'Daphnis', templateId: templates.workingGroup }
    const [first, again] = [await kim.createSite(body, key), await kim.createSite(body, key)]
    expect(again).toEqual(first)
    const other = await kim.createSite({ ...body, displayName: 'Other' }, key).catch((thrown: unknown) => thrown)
    expect(other).toMatchObject({ kind: 'problem', code: 'idempotency-key-reused', status: 422 })
  })

  it('reports problems with their codes and fields', async () => {
    const body = { displayName: '', templateId: templates.workingGroup }
    const error = await kim.createSite(body).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ProblemError)
    expect(error).toMatchObject({
      ...{
        status: 422,
        code: 'validation-failed',
        instance: '/collab/v1/spo/',
        traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      },
      ...{ errors: [{ pointer: '#/displayName', detail: expect.any(String) }], call: { method: 'POST' } },
    })
    await expect(kim.getRequest(randomUUID())).rejects.toMatchObject({ code: 'not-found', status: 404 })
    await expect(sam.retry((await kim.createSite(withApproval)).requestId)).rejects.toMatchObject({
      code: 'illegal-transition',
    })
    await expect(kim.getRequest('REQ-1042')).rejects.toThrow('requestId, which is a UUID')
    await expect(kim.template('../requests/v1/x')).rejects.toThrow('UUID')
  })
})

it('the types of the client match the answers of the service', () => {
  type Answered<K extends keyof ReturnType<typeof createClient>> = Awaited<
    ReturnType<ReturnType<typeof createClient>[K] extends (...parameters: never[]) => infer R ? () => R : never>
  >
  expectTypeOf<Answered<'createSite'>>().toEqualTypeOf<z.output<typeof accepted>>()
  expectTypeOf<Answered<'getRequest'>>().toEqualTypeOf<z.output<typeof requestView>>()
  expectTypeOf<Extract<Answered<'template'>, { webhook: unknown }>>().toExtend<z.output<typeof templateForAdmins>>()
})
