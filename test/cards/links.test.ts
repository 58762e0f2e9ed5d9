import { describe, expect, it } from 'vitest'
import type { CardJson } from '../../src/cards/index.ts'
import { mailboxes } from '../support/card-mailboxes.ts'
import { dana, kim, onePage, requestOf, requests, siteRoot, viewerOf } from '../support/card-requests.ts'
import { isNode, nodesOf } from '../support/card-rules.ts'
import { samples } from '../support/card-samples.ts'
import { cards } from '../support/english-cards.ts'
import { foreignUrls, hostileTexts } from '../support/hostile-texts.ts'

const asKim = viewerOf(kim)
const hosts = [new URL(siteRoot).host, new URL(asKim.outlookRoot).host]

/** All addresses on a card that a click opens or a client fetches. */
const linksOf = (card: CardJson): string[] =>
  nodesOf(card).flatMap((node) =>
    ['url', 'iconUrl', 'backgroundImage'].flatMap((name) => (name in node ? [String(node[name])] : [])),
  )
const opens = (url: string): string => {
  const { protocol, host, username, password } = new URL(url)
  return protocol === 'https:' && hosts.includes(host) && username + password === '' ? 'here' : url
}

describe('the links of cards', () => {
  it('lead by https to the organisation’s sites and to Outlook on every card', () => {
    const links = samples.flatMap((sample) => linksOf(sample.rendered()))
    expect(links.length).toBeGreaterThanOrEqual(5)
    expect(links.filter((url) => opens(url) !== 'here')).toEqual([])
  })

  it('do not lead to a foreign address from a webhook or the directory', () => {
    const { ready } = requests
    for (const url of foreignUrls) {
      const resource = ready.resource && { ...ready.resource, url }
      const foreign = [
        requestOf({ ...ready, followUp: { ...ready.followUp, url } }),
        requestOf({ ...ready, resource, progress: { ...ready.progress, url } }),
      ]
      for (const request of foreign) {
        const shown = [cards.ready(request, asKim), cards.requestStatus(request, asKim)]
        const decided = [cards.approvalDecided(request, viewerOf(dana)), cards.myRequests(onePage(request), asKim)]
        const links = [...shown, ...decided].flatMap(linksOf)
        expect(
          links.filter((link) => link !== '' && opens(link) !== 'here'),
          url,
        ).toEqual([])
      }
    }
  })

  it('contain any address of a mailbox as one value', () => {
    for (const { text, what } of hostileTexts.filter((one) => one.text.isWellFormed())) {
      const address = `${text}@contoso.example`
      for (const request of [mailboxes.ready, mailboxes.sharedReady]) {
        const card = cards.ready({ ...request, address }, asKim)
        const [link = ''] = linksOf(card)
        expect(opens(link), what).toBe('here')
        const { pathname, searchParams } = new URL(link)
        const held = searchParams.get('to') ?? decodeURIComponent(pathname.split('/')[2] ?? '')
        expect(held, what).toBe(address)
      }
    }
  })

  it('do not depend on people’s texts', () => {
    for (const { text } of hostileTexts) {
      const { details, ...rest } = requests.ready
      const request = requestOf({
        ...rest,
        details: { ...details, displayName: text, description: text },
        reason: text,
      })
      expect(linksOf(cards.ready(request, asKim))).toEqual(linksOf(cards.ready(requests.ready, asKim)))
      const taps = nodesOf(cards.ready(request, asKim)).flatMap(({ selectAction: tap }) =>
        isNode(tap) ? [tap['verb']] : [],
      )
      expect(taps).toEqual(['request.again'])
    }
  })
})
