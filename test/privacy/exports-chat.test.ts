import { describe, expect, it } from 'vitest'
import { nodesOf } from '../support/card-rules.ts'
import { textOf } from '../support/cards.ts'
import { withService } from '../support/service.ts'
import { asksFor, cardOf } from '../support/site-request.ts'
import { people, type TeamsUser } from '../support/teams-user.ts'

describe('exports and a person’s data, in chat', () => {
  const service = withService()
  let exported: Awaited<ReturnType<typeof asksFor>> | undefined
  const urlsOf = (card: object) => nodesOf(card).flatMap(({ url }) => (typeof url === 'string' ? [url] : []))

  const says = async (who: TeamsUser, text: string, reads: RegExp) => {
    const answer = await who.says(text)
    expect(textOf(answer.card)).toMatch(reads)
    return answer
  }

  it('return links for the typed days, which a browser opens', async () => {
    const { kim, sam } = service
    exported = await asksFor(kim, { displayName: 'To be exported' })
    const { card } = await says(sam, 'admin export this month', /Your links are ready/)
    const urls = urlsOf(card)
    expect(urls).toHaveLength(4)
    expect(urls.every((url) => url.startsWith(`${service.app.endpoints.baseUrl}/exports/v1/`))).toBe(true)
    const [csv = ''] = urls
    const answer = await fetch(csv, { method: 'POST' })
    expect([answer.status, answer.headers.get('content-disposition')]).toEqual([
      ...[200, expect.stringMatching(/^attachment; filename="requests-.*\.csv"$/)],
    ])
    expect(await answer.text()).toContain('"To be exported"')
  })

  it('request days in a form, and show its errors', async () => {
    const { sam } = service
    const form = await says(sam, 'admin export since Christmas', /I do not understand the days/)
    const returned = cardOf(await sam.clicks(form, 'Get links', { from: '2026-11-20', to: '2026-11-01' }))
    expect(textOf(returned)).toContain('The last day is before the first day.')
    const links = cardOf(
      await sam.clicks({ id: form.id, card: returned }, 'Get links', { from: '2026-11-01', to: '2026-11-20' }),
    )
    expect(urlsOf(links)).toHaveLength(4)
  })

  it('erase a person after the address is typed, and list the removed data', async () => {
    const { kim, sam } = service
    const sent = await asksFor(kim, { displayName: 'In the way' })
    const blocked = await says(sam, `admin erase ${people.kim.name}`, /I cannot erase the data yet/)
    expect(textOf(blocked.card)).toContain('In the way')
    for (const { id } of [sent, exported ?? sent]) {
      const { card } = kim.chat().find((one) => one.id === id) ?? {}
      const confirmation = cardOf(await kim.clicks({ id, card }, 'Cancel request'))
      await kim.clicks({ id, card: confirmation }, 'Cancel request')
    }
    const confirm = await says(sam, `admin erase ${people.kim.id}`, /Erase this person’s data\?/)
    const mismatch = cardOf(await sam.clicks(confirm, 'Erase', { address: 'kim' }))
    expect(textOf(mismatch)).toContain('Nothing was erased.')
    const address = /[\w.]+@[\w.-]+/.exec(textOf(confirm.card))?.[0] ?? ''
    const ordered = cardOf(await sam.clicks({ id: confirm.id, card: mismatch }, 'Erase', { address }))
    expect(textOf(ordered)).toContain('I am erasing the data')
    await sam.sees(/The data is erased[\s\S]*Records of their chat with me/)
    const { rows } = await service.app.database.query('SELECT 1 FROM conversations WHERE person_id = $1', [
      people.kim.id,
    ])
    expect(rows).toEqual([])
    const file = await says(sam, `admin export person ${people.omar.name}`, /Your link is ready/)
    expect(await (await fetch(urlsOf(file.card)[0] ?? '', { method: 'POST' })).text()).toContain(people.omar.id)
  })
})
