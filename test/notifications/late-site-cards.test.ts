import { describe, expect, it } from 'vitest'
import { requestView } from '../../src/core/index.ts'
import { textOf } from '../support/cards.ts'
import { templates, withService } from '../support/service.ts'
import { allSent } from '../support/settled.ts'
import { people, type TeamsUser } from '../support/teams-user.ts'
import { until } from '../support/until.ts'

const minutes = 60_000

describe('a site that stays in creation for more than 15 minutes', () => {
  const start = Date.now()
  let passed = 0
  const clock = { now: () => new Date(start + passed) }
  const admins = [people.sam.id, people.omar.id].join()
  const service = withService({ ADMINS: admins }, () => ({ clock }))

  const request = async (displayName: string): Promise<string> => {
    await service.modes({ siteReadySeconds: 3600 })
    const answer = await service.rest('kim', 'POST', '/collab/v1/spo/', {
      displayName,
      templateId: templates.openCommunity,
    })
    expect(answer.status).toBe(202)
    const requestId = String(answer.body['requestId'])
    const isPolled = async () =>
      (await readSite(requestId)).steps.some(({ name, status }) => name === 'wait-for-site' && status === 'running')
    await until(isPolled, 'the first poll of the site')
    return requestId
  }
  const readSite = async (requestId: string) =>
    requestView.parse((await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body)
  const run = (requestId: string) =>
    service.app.core.system.provision(requestId, { lastAttempt: false, signal: AbortSignal.timeout(30_000) })
  const settled = () => allSent(service)
  /** The cards about a site in a person's chat that contain a text. */
  const cardsOf = (user: TeamsUser, displayName: string, text: string) =>
    user.chat().filter(({ card }) => card && textOf(card).includes(displayName) && textOf(card).includes(text))
  const forRequester = 'Microsoft 365 is still working on your site. You do not need to do anything.'
  const forAdmins = 'SharePoint has been working on this site since'

  it('is reported as late to the requester and each admin once, even if its job runs twice', async () => {
    const { kim, sam } = service
    for (const one of [kim, sam]) await one.installs()
    const requestId = await request('Slow Harbour')
    passed += 14 * minutes
    await run(requestId)
    await settled()
    expect(cardsOf(kim, 'Slow Harbour', forRequester)).toEqual([])
    passed += 2 * minutes
    await Promise.all([run(requestId), run(requestId)])
    await run(requestId)
    await kim.sees(/Slow Harbour[\s\S]*Microsoft 365 is still working on your site/)
    await sam.sees(/Slow Harbour[\s\S]*SharePoint has been working on this site since/)
    passed += 5 * minutes
    await run(requestId)
    await settled()
    expect(cardsOf(kim, 'Slow Harbour', forRequester)).toHaveLength(1)
    expect(cardsOf(sam, 'Slow Harbour', forAdmins)).toHaveLength(1)
    expect(cardsOf(kim, 'Slow Harbour', forAdmins)).toEqual([])
  })

  it('is shown once to an admin whose chat starts later, and to no other person', async () => {
    const { dana, omar } = service
    expect(omar.chat()).toEqual([])
    for (const one of [dana, omar]) await one.installs()
    await omar.sees(/Slow Harbour[\s\S]*SharePoint has been working on this site since/)
    // The app is installed again, and the card is already in the chat.
    await omar.installs()
    await settled()
    expect(cardsOf(omar, 'Slow Harbour', forAdmins)).toHaveLength(1)
    expect(cardsOf(dana, 'Slow Harbour', '')).toEqual([])
  })

  it('is not reported as late to an admin whose chat starts after its creation', async () => {
    const { dana } = service
    const { rows } = await service.app.database.query<{ id: string }>('SELECT request_id AS id FROM requests')
    const requestId = String(rows[0]?.id)
    await service.modes({ siteReadySeconds: null })
    passed += 20 * minutes
    await run(requestId)
    expect((await readSite(requestId)).status).toBe('succeeded')
    await service.restart({ ADMINS: `${admins},${people.dana.id}` })
    await dana.installs()
    await settled()
    expect(cardsOf(dana, 'Slow Harbour', '')).toEqual([])
  })
})
