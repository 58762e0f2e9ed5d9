import type { Activity } from 'botbuilder'
import { describe, expect, it } from 'vitest'
import type { CardSender } from '../../src/bot/channel/card-sender.ts'
import { createOutbox } from '../../src/bot/notifications/outbox.ts'
import { type Catalogue, catalogues } from '../../src/cards/index.ts'
import { inLanguage } from '../../src/cards/shared/messages.ts'
import { type CardContent, dayIn, endOf, nothingKnown } from '../../src/core/index.ts'
import { activityOf, cardIn, clicking, saying } from '../support/bot-activities.ts'
import { requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { siteRoot } from '../support/card-world.ts'
import { action, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { contosoTenant, people } from '../support/teams-user.ts'

function textsOf(language: string): Catalogue {
  const found = catalogues.get(language)
  if (!found) throw new Error(`there is no catalogue of ${language}`)
  return found
}
const [en, de, fr] = [textsOf('en'), textsOf('de'), textsOf('fr')]

describe('the language of the chat', () => {
  const world = withBotWorld()
  const start = () => startBot(world)

  it.each([
    ['hallo', 'de-DE', de],
    ['guten Tag', 'de-AT', de],
    ['Bonjour', 'fr-CA', fr],
    ['hola', 'es-MX', textsOf('es')],
    ['help', 'de', de],
    ['help', 'it-IT', en],
  ])('“%s” in Teams in %s: the help is in the person’s language', async (text, locale, texts) => {
    const shown = await start().answer(saying('kim', text, { locale }))
    expect(shown).toContain(texts.help.command.newSite.says)
    expect(shown).toContain(texts.help.lead)
  })

  it('changes in the middle of a form: the answers stay, and each card has the language of its turn', async () => {
    const bot = start()
    const form = async (card: Card, title: string, inputs: object, locale: string): Promise<Card> => {
      const { verb, data } = action(card, title)
      const [sent] = await bot.turn(
        clicking('kim', String(verb), { ...data, ...valuesOf(card), ...inputs }, { locale }),
      )
      return cardIn(sent)
    }
    const say = async (text: string, locale: string) => cardIn((await bot.turn(saying('kim', text, { locale })))[0])
    const opened = await say('neuer raum Säntis', 'de-CH')
    expect(textOf(opened)).toContain(inLanguage('de', () => de.form.step).replace('{step}', '2'))
    expect(valuesOf(opened)['displayName']).toBe('Säntis')
    const checked = await form(opened, de.button.checkName, { officeLocation: 'Bern' }, 'fr-CH')
    expect(textOf(checked)).toContain(fr.form.step.replace('{step}', '2'))
    expect(valuesOf(checked)).toMatchObject({ displayName: 'Säntis', officeLocation: 'Bern' })
    const later = await form(checked, fr.button.later, {}, 'en-GB')
    expect(JSON.stringify(later)).toContain(en.button.continue)
  })

  it('shows a request to requester and approver in the language of each of them', async () => {
    const { requestId } = await requested(world, 'Aurora')
    const request = await world.provisioning.readRequest(
      await world.provisioning.actor({ tenantId: contosoTenant, id: people.kim.id }),
      { requestId },
    )
    const sent: Card[] = []
    const sender: CardSender = {
      send: async (_, card) => {
        sent.push(card as Card)
        return { state: 'sent', activityId: 'a1' }
      },
      update: async () => 'updated',
    }
    const outbox = createOutbox(sender, { now: () => new Date(), siteRoot, outlookRoot: 'https://x.example/' })
    const chat = (who: 'kim' | 'dana', locale: string) => ({
      tenantId: contosoTenant,
      personId: people[who].id,
      conversationId: who,
      reference: {},
      locale,
      timeZone: 'Europe/Zurich',
    })
    const status = { kind: 'status', request, isAdmin: false } satisfies CardContent
    const approval = { kind: 'approval', request, stage: 1, facts: nothingKnown, isAdmin: false } satisfies CardContent
    await outbox.send(chat('kim', 'de-DE'), status, 'status')
    await outbox.send(chat('dana', 'fr-FR'), approval, 'approval')
    const [forKim, forDana] = sent.map((card) => textOf(card))
    expect(forKim).toContain(de.state.pendingApproval.name)
    expect(forDana).toContain(fr.approval.band.first)
    expect(forDana).not.toContain(en.approval.band.first)
  })

  it('is remembered for cards that the bot sends by itself, and follows the person’s Teams', async () => {
    const bot = start()
    const localeOf = async () => (await world.stores.conversations.ofPerson(contosoTenant, people.omar.id))?.locale
    await bot.turn(saying('omar', 'hilfe', { locale: 'de-DE' }))
    expect(await localeOf()).toBe('de-DE')
    await bot.turn(saying('omar', 'aide', { locale: 'fr-FR' }))
    expect(await localeOf()).toBe('fr-FR')
    const { locale: _, localTimezone: __, ...update } = activityOf('omar', { type: 'conversationUpdate' })
    await bot.turn(update)
    expect(await world.stores.conversations.ofPerson(contosoTenant, people.omar.id)).toMatchObject({
      locale: 'fr-FR',
      timeZone: 'Europe/Zurich',
    })
  })

  describe('from a client that sends no language and no time zone', () => {
    const zone = 'America/Los_Angeles'
    const onPhone = (text: string, change: Partial<Activity> = {}) => {
      const { locale: _, localTimezone: __, ...activity } = saying('dana', text)
      return { ...activity, ...change }
    }
    const delegatedUntil = async () => {
      const dana = await world.provisioning.actor({ tenantId: contosoTenant, id: people.dana.id })
      return (await world.provisioning.readDelegations(dana)).own?.until
    }
    const tomorrowIn = (timeZone: string) =>
      endOf(dayIn(new Date(Date.now() + 86_400_000), timeZone), timeZone).toISOString()

    it('is English in UTC for an unknown chat', async () => {
      const bot = start()
      expect(await bot.answer(onPhone('help'))).toContain(en.help.lead)
      await bot.turn(onPhone('delegate Sam Roy until tomorrow'))
      expect(await delegatedUntil()).toBe(tomorrowIn('UTC'))
    })

    it('is the language and the time zone of the stored chat', async () => {
      const bot = start()
      await bot.turn(saying('dana', 'hilfe', { locale: 'de-DE', localTimezone: zone }))
      expect(await bot.answer(onPhone('help'))).toContain(de.help.lead)
      await bot.turn(onPhone('delegate Sam Roy until tomorrow'))
      expect(await delegatedUntil()).toBe(tomorrowIn(zone))
    })

    it('is the language and the time zone in the client’s own entity, before those of the chat', async () => {
      const bot = start()
      await bot.turn(saying('dana', 'hilfe', { locale: 'de-DE', localTimezone: zone }))
      const entities = [{ type: 'clientInfo', locale: 'fr-FR', timezone: 'Asia/Tokyo', platform: 'iOS' }]
      expect(await bot.answer(onPhone('help', { entities }))).toContain(fr.help.lead)
      await bot.turn(onPhone('delegate Sam Roy until tomorrow', { entities }))
      expect(await delegatedUntil()).toBe(tomorrowIn('Asia/Tokyo'))
    })
  })

  it('answers refusals and misspelt commands in the person’s language', async () => {
    const bot = start()
    const unknown = await bot.answer(saying('kim', 'status REQ-9999', { locale: 'de-DE' }))
    expect(unknown).toContain(de.notice.notFound.band)
    const misspelt = await bot.answer(saying('kim', 'hlife', { locale: 'de-DE' }))
    expect(misspelt).toContain('„hilfe“')
    const admin = await bot.answer(saying('kim', 'admin zustand', { locale: 'de-DE' }))
    expect(admin).toContain(de.notice.notAdmin.band)
  })
})
