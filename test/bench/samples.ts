import { randomUUID } from 'node:crypto'
import { provisioningRequest, type Request } from '../../src/core/index.ts'
import { openDatabase } from '../../src/store/index.ts'
import { people } from '../support/teams-user.ts'
import { control } from '../support/tenant-control.ts'
import { until } from '../support/until.ts'
import { type RunningService, tokenOf } from './service.ts'

/** A request that the product itself created, with its timeline. */
export interface Sample {
  readonly request: Request
  readonly timeline: readonly object[]
}
export const sampleNames = ['pending', 'rejected', 'failed', 'room', 'workingGroup', 'projectSite'] as const
export type SampleName = (typeof sampleNames)[number]
export type SampleIds = Readonly<Record<SampleName, string>>

const templates = {
  projectSite: '4f6b1f0a-6f0e-4d0e-9a55-0d6f3a1f7c11',
  workingGroup: 'c3d1e5f7-0b1a-4a3e-b5d4-7e6f5a4b3c33',
  meetingRoom: 'e1f2a3b4-2d3c-4e5f-9a8b-7c6d5e4f3a55',
}
const project = { templateId: templates.projectSite, metadata: { costCentre: '4711', audience: 'internal' } }

/** Creates one request of each sort with the running service, and waits for their final states. */
export async function makeSamples(service: RunningService): Promise<SampleIds> {
  const kim = await tokenOf(service, people.kim.id)
  const kimOfMail = await tokenOf(service, people.kim.id, 'mail')
  const dana = await tokenOf(service, people.dana.id)
  const site = (body: object) => submit(service, kim, '/collab/v1/spo/', { ...body, displayName: newName() })
  const room = () => {
    const name = newName().slice(0, 13)
    const body = { templateId: templates.meetingRoom, name, displayName: name }
    return submit(service, kimOfMail, '/mail/v1/mailboxes/', body)
  }
  const decide = (requestId: string, verb: 'approve' | 'reject') =>
    call(service, dana, 'POST', `/requests/v1/${requestId}/${verb}`, { comment: 'The bench decides.' })
  const ids = {
    pending: await site(project),
    rejected: await site(project),
    projectSite: await site(project),
    workingGroup: await site({ templateId: templates.workingGroup }),
    room: await room(),
  }
  await decide(ids.rejected, 'reject')
  await decide(ids.projectSite, 'approve')
  for (const id of [ids.projectSite, ids.workingGroup, ids.room]) await ended(service, kim, id, 'succeeded')
  await failNext(service)
  const failed = await room()
  await ended(service, kim, failed, 'failed')
  return { ...ids, failed }
}

/** Reads the samples from the store while no service uses it. */
export async function readSamples(
  where: Parameters<typeof openDatabase>[0],
  ids: SampleIds,
): Promise<Record<SampleName, Sample>> {
  const database = await openDatabase(where)
  const read = async (name: SampleName): Promise<Sample> => {
    const requests = await database.query<{ body: unknown }>('SELECT body FROM requests WHERE request_id = $1', [
      ids[name],
    ])
    const entries = await database.query<{ body: object }>(
      'SELECT body FROM audit_log WHERE request_id = $1 ORDER BY entry',
      [ids[name]],
    )
    const request = provisioningRequest.parse(requests.rows[0]?.body)
    return { request, timeline: entries.rows.map(({ body }) => body) }
  }
  try {
    const [pending, rejected, failed] = [await read('pending'), await read('rejected'), await read('failed')]
    const made = { room: await read('room'), workingGroup: await read('workingGroup') }
    return { pending, rejected, failed, ...made, projectSite: await read('projectSite') }
  } finally {
    await database.close()
  }
}

const newName = (): string => `bench-${randomUUID()}`

async function submit(service: RunningService, token: string, path: string, body: object): Promise<string> {
  return String((await call(service, token, 'POST', path, body))['requestId'])
}

/** Waits until the request is in this state and, after success, until its requester has been notified. */
async function ended(service: RunningService, token: string, requestId: string, state: string): Promise<void> {
  await until(
    async () => {
      const { status } = await call(service, token, 'GET', `/requests/v1/${requestId}`)
      const { value } = await call(service, token, 'GET', `/requests/v1/${requestId}/timeline`)
      const isNotified = state !== 'succeeded' || JSON.stringify(value).includes('"announced"')
      return (status === state && isNotified) || undefined
    },
    `a sample that has ${state}`,
    90,
  )
}

async function failNext({ simulatorUrl }: RunningService): Promise<void> {
  const fault = { operation: 'exchange.new-mailbox', kind: 'failBeforeCommit', status: 405, count: 1 }
  await control(simulatorUrl, 'POST', 'faults', fault)
}

async function call(
  { url }: RunningService,
  token: string,
  method: string,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}
