import { describe, expect, it } from 'vitest'
import { type CardJson, cardsFor } from '../../src/cards/index.ts'
import {
  inLocale,
  meantTemplates,
  type Request,
  snapshot,
  starterKinds,
  starterOf,
  template,
  templateFromStarter,
  templateSnapshot,
  templateWithin,
} from '../../src/core/index.ts'
import samples from '../../src/simulator/tenant/templates.json' with { type: 'json' }
import { cardIn, clicking, saying } from '../support/bot-activities.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { requestForm } from '../support/card-forms.ts'
import { dana, draftOf, projectSite, requestOf, requests, templateOf, viewerOf } from '../support/card-requests.ts'
import { actionsOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { contosoTenant, type people } from '../support/teams-user.ts'

const german = {
  name: 'Projektwebsite',
  fields: {
    costCentre: { label: 'Kostenstelle', placeholder: 'Vier Ziffern', error: 'Eine Kostenstelle hat vier Ziffern.' },
    audience: { label: 'Wer arbeitet darin?', help: 'Nur Partner', choices: { internal: 'Nur Contoso' } },
  },
  labels: { b2: 'Intern' },
}
const french = {
  name: 'Site de projet',
  fields: {
    costCentre: { label: 'Centre de coûts', error: 'Un centre de coûts comporte quatre chiffres.' },
    audience: { label: 'Qui y travaille ?', choices: { internal: 'Uniquement Contoso', partners: 'Des partenaires' } },
  },
  labels: { b2: 'Interne' },
}
const translated = templateOf({ ...projectSite, localised: { de: german, fr: french } })
const textsOf = ({ name, description, fields, labels }: typeof translated) => ({
  ...{ name, description },
  fields: fields.map(({ label, help, placeholder, error }) => [label, help, placeholder, error]),
  choices: fields.flatMap(({ choices }) => choices.map(({ title, value }) => `${value}: ${title}`)),
  labels: labels.allowed.map(({ id, name }) => `${id}: ${name}`),
})

describe('a template in a language', () => {
  it('has its translated texts, and its own texts for all others', () => {
    const { description, fields } = projectSite
    expect(textsOf(inLocale(translated, 'de-CH'))).toEqual({
      name: 'Projektwebsite',
      description,
      fields: [
        ['Kostenstelle', '', 'Vier Ziffern', 'Eine Kostenstelle hat vier Ziffern.'],
        ['Wer arbeitet darin?', 'Nur Partner', '', ''],
      ],
      choices: ['internal: Nur Contoso', `partners: ${fields[1]?.choices[1]?.title}`],
      labels: ['b1: Public', 'b2: Intern', 'b3: Confidential'],
    })
  })

  it('is unchanged in a language without translations', () => {
    expect(inLocale(translated, 'es')).toEqual(translated)
    expect(inLocale(projectSite, 'de')).toEqual(projectSite)
  })

  it('prefers the texts of a region, one by one', () => {
    const swiss = { name: 'Projektseite', fields: { audience: { label: 'Wer schafft darin?' } } }
    const both = templateOf({ ...translated, localised: { 'de-CH': swiss, de: german } })
    expect(textsOf(inLocale(both, 'de-CH'))).toMatchObject({
      name: 'Projektseite',
      fields: [
        ['Kostenstelle', '', 'Vier Ziffern', expect.anything()],
        ['Wer schafft darin?', 'Nur Partner', '', ''],
      ],
    })
    expect(inLocale(both, 'de-AT').name).toBe('Projektwebsite')
    expect(inLocale(both, 'den').name).toBe('Project site')
  })

  it('keeps the texts of a question whose key is the name of a member of every object', () => {
    const odd = templateOf({
      ...{ id: translated.id, version: 1, kind: 'teamSite', name: 'Odd', localised: { de: { fields: {} } } },
      fields: [{ key: 'constructor', type: 'choice', label: 'Builder', choices: [{ title: 'T', value: 'toString' }] }],
    })
    expect(inLocale(odd, 'de').fields).toEqual(odd.fields)
  })

  it('is found by its name in any language', () => {
    for (const typed of ['projektwebsite', 'Site de proj', 'Projektwebseite']) {
      const { found, near } = meantTemplates([translated], typed)
      expect([...found, ...near]).toEqual([translated])
    }
  })

  it('keeps its translations in the copy that a request stores, and loads from a copy of an older version', () => {
    expect(templateSnapshot.parse(JSON.parse(JSON.stringify(snapshot(translated)))).localised).toEqual({
      de: german,
      fr: french,
    })
    const { localised: _, ...older } = snapshot(translated)
    expect(templateSnapshot.parse(older).localised).toEqual({})
    expect(template.parse({ ...projectSite, localised: { de: { name: 'Projekt' } } }).localised).toEqual({
      de: { name: 'Projekt' },
    })
  })
})

describe('people with different languages', () => {
  const world = withBotWorld()
  const turn = (activity: Parameters<ReturnType<typeof startBot>['turn']>[0]) => startBot(world).turn(activity)
  const says = async (who: keyof typeof people, text: string, locale: string) =>
    cardIn((await turn(saying(who, text, { locale })))[0])
  /** Clicks a button by its verb, because its title depends on the language. */
  const clicks = async (card: Card, verb: string, inputs: Record<string, string> = {}) => {
    const button = actionsOf(card).find((one) => one.verb === verb)
    const all = { ...button?.data, ...valuesOf(card), ...inputs }
    return cardIn((await turn(clicking('kim', verb, all, { locale: 'fr-CH' })))[0])
  }
  const put = (written: typeof translated, expected: number) =>
    world.stores.templates.put(contosoTenant, { ...written, version: expected + 1 }, expected)

  it('each read one request in their own, also after the template has lost its translations', async () => {
    const conditions = [
      { field: 'metadata.audience', oneOf: ['internal'] },
      { field: 'labelId', oneOf: ['b2'] },
    ]
    const stages = projectSite.approval?.stages.map((stage) => ({ ...stage, when: conditions }))
    await put(templateOf({ ...translated, approval: { stages } }), 1)
    const form = cardIn(
      (await turn(clicking('kim', 'request.choose', { templateId: translated.id }, { locale: 'fr-CH' })))[0],
    )
    for (const text of ['Site de projet', 'Centre de coûts', 'Qui y travaille ?', 'Uniquement Contoso', 'Interne'])
      expect(JSON.stringify(form)).toContain(text)
    const answers = { displayName: 'Aurore', reason: 'Un projet', 'metadata.audience': 'internal', labelId: 'b2' }
    const wrong = await clicks(form, 'request.review', { ...answers, 'metadata.costCentre': '47' })
    expect(textOf(wrong)).toContain('Un centre de coûts comporte quatre chiffres.')
    const review = await clicks(wrong, 'request.review', { ...answers, 'metadata.costCentre': '4711' })
    expect(textOf(review)).toMatch(/Site de projet[\s\S]*Centre de coûts[\s\S]*Uniquement Contoso[\s\S]*Interne/)
    const status = await clicks(review, 'request.submit')
    expect(textOf(status)).toContain('Site de projet')
    const reference = /REQ-\d+/.exec(textOf(status))?.[0] ?? ''
    await put(projectSite, 2)

    for (const typed of [`status ${reference}`, 'approvals', `why ${reference}`]) {
      const inGerman = textOf(await says('dana', typed, 'de-AT'))
      for (const text of ['Wer arbeitet darin?', 'Nur Contoso', 'Intern']) expect(inGerman).toContain(text)
      expect(inGerman).not.toMatch(/Uniquement Contoso|Only people in Contoso/)
    }
    const approval = textOf(await says('dana', `status ${reference}`, 'de-AT'))
    for (const text of ['Projektwebsite', 'Kostenstelle']) expect(approval).toContain(text)
    const english = textOf(await says('omar', `status ${reference}`, 'en-GB'))
    for (const text of ['Project site', 'Who works in it', 'Only people in Contoso', 'Internal'])
      expect(english).toContain(text)
    expect(textOf(await says('kim', `status ${reference}`, 'fr'))).toContain('Site de projet')
    const stored = await world.stores.requests.list({ tenantId: contosoTenant, limit: 1 })
    expect(stored[0]?.details).toMatchObject({ labelId: 'b2', metadata: { audience: 'internal' } })
  })

  it('start a template in their own', async () => {
    const { displayName, localised } = starterOf('teamSite')
    const form = cardIn((await turn(clicking('sam', 'admin.starter', { starter: 'teamSite' }, { locale: 'de' })))[0])
    expect(valuesOf(form)).toMatchObject(localised['de'] ?? {})
    expect(textOf(form)).not.toContain(displayName)
  })

  it('manage a template in their own', async () => {
    await put(translated, 3)
    const shown = textOf(await says('sam', 'admin templates show Site de projet', 'fr'))
    for (const text of ['Site de projet', 'Qui y travaille ?', 'Uniquement Contoso', 'Interne'])
      expect(shown).toContain(text)
    const simulated = textOf(await says('sam', 'admin simulate Projektwebsite', 'de'))
    expect(simulated).toMatch(/Projektwebsite[\s\S]*Intern/)
    expect(textOf(await says('sam', 'admin templates', 'de'))).toContain('Projektwebsite')
  })
})

describe('each card about a request', () => {
  const viewer = viewerOf(dana, { locale: 'de-CH' })
  const inGerman = cardsFor(viewer)
  const details = { ...requests.waiting.details, metadata: { costCentre: '4711', audience: 'internal' }, labelId: 'b2' }
  const request = requestOf({ template: snapshot(translated), details })
  const changed = {
    how: 'repeat',
    requestId: request.requestId,
    reference: 'REQ-1',
    changed: ['metadata.audience'],
  } satisfies Request['basedOn']
  const earlier = requestOf({ ...request, details: { ...details, metadata: { audience: 'partners' } } })
  const facts = { address: 'free', duplicates: [], earlier } as const
  const checked = { name: 'label', ok: true, detail: '' } as const

  it.each<[string, () => CardJson, string[]]>([
    ['that several decide', () => inGerman.decideSeveral({ waiting: [request] }, viewer), ['Intern']],
    [
      'with changes',
      () => inGerman.approval(requestOf({ ...request, basedOn: changed }), viewer, undefined, facts),
      ['Wer arbeitet darin?', 'Contoso and named partners', 'Nur Contoso'],
    ],
    ['that is decided', () => inGerman.approvalDecided(request, viewer), ['Projektwebsite']],
    ['to cancel', () => inGerman.cancelRequest(request, viewer), ['Projektwebsite']],
    [
      'that is ready',
      () => inGerman.ready(requestOf({ ...request, status: 'succeeded', checks: [checked] }), viewer),
      ['Intern'],
    ],
  ])('%s has its texts in the reader’s language', (_, render, texts) => {
    const text = textOf(render() as Card)
    for (const one of texts) expect(text).toContain(one)
    expect(text).not.toMatch(/Only people in Contoso|Internal|Project site/)
  })

  it('a webhook has the name of its template in the reader’s language', () => {
    const names = new Map([[translated.id, translated]])
    const page = { of: 'all', deliveries: [], isLater: false, names, canResend: false } as const
    const card = inGerman.adminDeliveries({ ...page, receiver: { id: translated.id, name: 'Project site' } }, viewer)
    expect(textOf(card as Card)).toContain('Projektwebsite')
  })
})

describe('the languages of ready-made templates', () => {
  const languages = ['de', 'fr', 'es']
  const all = samples.map((one) => templateWithin([]).parse(one))

  it.each(all)('include every text of $name', (one) => {
    expect(Object.keys(one.localised)).toEqual(languages)
    for (const texts of Object.values(one.localised)) {
      expect([texts.name, texts.description]).not.toContain(undefined)
      const given = Object.entries(texts.fields ?? {}).map(([key, { choices = {}, ...own }]) => {
        return [key, Object.keys(own).toSorted(), Object.keys(choices)]
      })
      const needed = one.fields.map(({ key, choices, ...own }) => {
        // A proper name needs no translation.
        const needsOne = (text: string) => text !== '' && text !== 'Fabrikam'
        const names = (['error', 'help', 'label', 'placeholder'] as const).filter((name) => needsOne(own[name]))
        return [key, names, choices.map(({ value }) => value)]
      })
      expect(given).toEqual(needed)
      expect(Object.keys(texts.labels ?? {})).toEqual(one.labels.allowed.map(({ id }) => id))
    }
  })

  it.each(all)('leave room for the form of $name in a message of Teams', (one) => {
    for (const locale of languages) {
      const form = cardsFor({ locale }).form(requestForm({ template: inLocale(one, locale), draft: draftOf({}) }))
      expect(JSON.stringify(form).length * 2).toBeLessThan(25_000)
    }
  })

  it.each(starterKinds)('include the starter %s', (kind) => {
    const made = templateWithin([]).parse(templateFromStarter({ kind, id: translated.id }))
    expect(Object.keys(made.localised)).toEqual(languages)
    for (const language of languages) {
      const { name, description } = inLocale(made, language)
      const offered = textOf(cardsFor({ locale: language }).starters())
      for (const text of [`${made.icon} ${name}`, description]) expect(offered).toContain(text)
      expect(description).not.toBe(made.description)
    }
  })

  it('stay with the text that an admin keeps in their language, and not with another text', () => {
    const { displayName, localised } = starterOf('teamSite')
    const started = (choices: object) => templateFromStarter({ kind: 'teamSite', id: translated.id, ...choices })
    const kept = started({ displayName: localised['de']?.name, description: 'Für Vereine' })
    expect(kept).toMatchObject({ name: displayName, description: 'Für Vereine' })
    expect(kept.localised?.['fr']).toEqual({ name: 'Site d’équipe' })
    expect(started({ displayName: 'Club', description: '' }).localised).toEqual({})
  })
})
