import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { actionsOf, textOf } from '../support/cards.ts'
import { selfSigned } from '../support/certificates.ts'
import { partOn } from '../support/health-card.ts'
import { withService } from '../support/service.ts'
import { cardOf } from '../support/site-request.ts'
import { people } from '../support/teams-user.ts'

const title = 'Reload certificate'
const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000 + 3_600_000)
const pem = (endsAt: Date): string => {
  const { key, certificate } = selfSigned(endsAt)
  return key + certificate
}

describe('a certificate near its end, for an admin in the chat,', () => {
  const file = join(mkdtempSync(join(inject('runFolder'), 'certificate-')), 'client.pem')
  const put = (text: string) => writeFileSync(file, text)
  put(pem(inDays(5)))
  const service = withService({ CLIENT_CERTIFICATE_PATH: file })
  beforeAll(() => service.sam.installs())
  const health = () => service.sam.says('admin health')
  const entries = async () => {
    const { core, endpoints } = service.app
    const sam = await core.actor({ tenantId: endpoints.tenantId, id: people.sam.id })
    const { entries } = await core.readAudit(sam, { requestId: endpoints.tenantId })
    return entries.map(({ action, actor }) => [action, 'id' in actor ? actor.id : actor])
  }

  it('is red with the remaining days, and the card offers to read the file again', async () => {
    const { card } = await health()
    expect(partOn(card, 'Certificate')).toEqual({ state: 'Red', says: expect.stringContaining('in 5 days.') })
    expect(actionsOf(card).map(({ title }) => title)).toContain(title)
  })

  it('stays in use when its new file cannot be used, and the card shows the reason', async () => {
    const shown = await health()
    put('-----BEGIN CERTIFICATE-----\nhalf of it')
    const card = cardOf(await service.sam.clicks(shown, title))
    expect(textOf(card)).toContain('I read the file, but its certificate is not usable.')
    expect(partOn(card, 'Certificate').says).toContain('The file is incomplete: a block begins and does not end.')
    expect(partOn(card, 'Microsoft Graph').state).toBe('Green')
    expect(await entries()).toEqual([['certificate-read', people.sam.id]])
  })

  it('is amber when it ends within a month, and a button reads the file again', async () => {
    const shown = await health()
    put(pem(inDays(20)))
    const card = cardOf(await service.sam.clicks(shown, title))
    expect(textOf(card)).toContain('The service now uses the new certificate.')
    expect(partOn(card, 'Certificate')).toEqual({ state: 'Amber', says: expect.stringContaining('in 20 days.') })
  })

  it('is healthy after a new file, and a second click shows its status', async () => {
    const shown = await health()
    put(pem(inDays(300)))
    const card = cardOf(await service.sam.clicks(shown, title))
    expect(partOn(card, 'Certificate')).toEqual({
      state: 'Green',
      says: expect.stringMatching(/^Valid for 300 days\./),
    })
    const again = cardOf(await service.sam.invokes(shown.id, 'admin.certificate', {}))
    expect(textOf(again)).toContain('The file still contains the certificate in use.')
    expect(partOn(again, 'Certificate').state).toBe('Green')
    expect(await entries()).toHaveLength(4)
  })

  it('stays in use when Entra ID does not accept its replacement', async () => {
    put(pem(inDays(2)))
    await service.rest('sam', 'GET', '/admin/v1/health')
    await service.fault({ operation: 'login.*', kind: 'failBeforeCommit', status: 503, count: 100 })
    const card = cardOf(await service.sam.invokes('no-activity', 'admin.certificate', {}))
    await service.heal()
    expect(textOf(card)).toContain('I read the file, but its certificate is not usable.')
    expect(partOn(card, 'Certificate')).toEqual({ state: 'Amber', says: expect.stringContaining('in 300 days') })
  })
})
