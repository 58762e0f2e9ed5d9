import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type MailboxKind, mailboxKinds } from '../../src/core/index.ts'
import { caller, mailboxView } from '../support/rest-caller.ts'
import { templates, withService } from '../support/service.ts'
import { people } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const templateOf: Readonly<Record<MailboxKind, string>> = {
  sharedMailbox: templates.sharedMailbox,
  equipmentMailbox: templates.equipment,
  roomMailbox: templates.meetingRoom,
}
const rooms = { officeLocation: 'ZRH/2', isWheelChairAccessible: true, roomMailboxMetadata: { hasWhiteboard: true } }
const shared = { autoMapping: true, alias: 'further' }
/** Fields that a kind does not have, each with a value that another kind accepts. */
const refused: Readonly<Record<MailboxKind, Readonly<Record<string, unknown>>>> = {
  sharedMailbox: rooms,
  equipmentMailbox: { ...rooms, ...shared },
  roomMailbox: shared,
}
const always = {
  primaryOwner: people.dana.id,
  secondaryOwner: people.omar.id,
  isAllowAutomaticReplyOverride: true,
  reason: 'Kept: four companies share it.',
  metadata: { unassigned: 'Kept: no attribute is assigned' },
}
const devices = {
  audioDeviceName: 'Kept: Poly Audio',
  displayDeviceName: 'Kept: Surface Hub',
  videoDeviceName: 'Kept: Poly Video',
  tags: ['Kept: quiet', 'Kept: light'],
}
/** Fields without a place in Exchange: they stay on the request. */
const kept: Readonly<Record<MailboxKind, Readonly<Record<string, unknown>>>> = {
  sharedMailbox: { ...always, ...devices },
  equipmentMailbox: { ...always, ...devices },
  roomMailbox: always,
}

/** The fields with a warning: all kept ones except the reason, which approvers read. */
const warned = (kind: MailboxKind) =>
  [
    ...Object.keys(kept[kind]).filter((field) => field !== 'metadata' && field !== 'reason'),
    'metadata.unassigned',
  ].sort()

/** The calls that write to Exchange: cmdlets with the names and values of their parameters. */
const cmdlet = z.object({
  CmdletInput: z.object({ CmdletName: z.string(), Parameters: z.record(z.string(), z.unknown()) }),
})

describe('the fields of a mailbox, from the API to Exchange', () => {
  const service = withService()
  const { call, problem } = caller(service)
  const kim = () => ({ userId: people.kim.id, scope: `${service.app.url}/mail/App.ReadWrite.All` })
  const post = (body: object) => call(kim(), 'POST', '/mail/v1/mailboxes/', { body })
  const plain = (kind: MailboxKind) => ({
    ...{ name: `n${randomUUID().slice(0, 8)}`, displayName: 'Plain', templateId: templateOf[kind] },
  })
  const written = async () =>
    (await service.calls())
      .filter(({ operation }) => operation.startsWith('exchange.'))
      .map(({ body }) => cmdlet.parse(body).CmdletInput)
      .filter(({ CmdletName }) => !CmdletName.startsWith('Get-'))

  /** Requests a mailbox. Returns the ready request and the calls that wrote to Exchange. */
  async function provision(body: object) {
    const before = (await written()).length
    const answer = await post(body)
    expect(answer.status, answer.text).toBe(202)
    const { requestId } = z.object({ requestId: z.string() }).parse(answer.body)
    const view = await until(async () => {
      const read = mailboxView.parse((await call(kim(), 'GET', `/requests/v1/${requestId}`)).body)
      return read.status === 'succeeded' ? read : undefined
    }, 'the mailbox to be there')
    const cmdlets = (await written()).slice(before)
    const names = cmdlets.map(({ CmdletName, Parameters }) => [CmdletName, Object.keys(Parameters).sort()])
    return { view, cmdlets, names }
  }

  describe.each(mailboxKinds)('of a %s', (kind) => {
    it('keeps fields without a place in Exchange on the request, and sends them to no cmdlet', async () => {
      const without = await provision(plain(kind))
      const { view, cmdlets, names } = await provision({ ...plain(kind), ...kept[kind] })
      expect(view.details).toMatchObject(kept[kind])
      expect(view.warnings.map(({ field }) => field).toSorted()).toEqual(warned(kind))
      expect(without.view.warnings).toEqual([])
      expect(names).toEqual(without.names)
      expect(names.map(([name]) => name)).toContain('New-Mailbox')
      const sent = JSON.stringify(cmdlets)
      expect(sent).toContain(view.details.name)
      for (const value of ['Kept: ', people.dana.id, people.omar.id]) expect(sent).not.toContain(value)
    })

    it.each(Object.entries(refused[kind]))(
      'refuses %s and names the field, without a call or a stored request',
      async (field, value) => {
        const rows = async () => (await service.app.database.query('SELECT request_id FROM requests')).rows
        const before = { rows: await rows(), written: await written() }
        const { status, code, errors = [] } = problem(await post({ ...plain(kind), [field]: value }))
        expect([status, code]).toEqual([422, 'validation-failed'])
        expect(errors.map(({ pointer }) => pointer)).toEqual([`#/${field}`])
        expect({ rows: await rows(), written: await written() }).toEqual(before)
      },
    )
  })
})
