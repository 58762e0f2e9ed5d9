import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Catalogue, catalogues } from '../../src/cards/index.ts'
import { inLocale, template } from '../../src/core/index.ts'
import samples from '../../src/simulator/tenant/templates.json' with { type: 'json' }
import { inChatWindows, patience, screenshots } from '../support/chat-windows.ts'

const english = textsOf('en')

function textsOf(language: string): Catalogue {
  const found = catalogues.get(language)
  if (!found) throw new Error(`there is no catalogue of ${language}`)
  return found
}

/** The first message of a person in each language. */
const people = [
  { locale: 'de-DE', greeting: 'hallo' },
  { locale: 'fr-FR', greeting: 'bonjour' },
  { locale: 'es-ES', greeting: 'hola' },
] as const

/** The sample template "Project site" in a language. */
function projectSiteIn(language: string) {
  const sample = samples.map((one) => template.parse(one)).find(({ name }) => name === 'Project site')
  if (!sample) throw new Error('the sample templates have no Project site')
  const { name, fields } = inLocale(sample, language)
  const [costCentre, audience] = fields
  if (costCentre?.type !== 'text' || audience?.type !== 'choice') throw new Error('Project site has other fields')
  return { name, costCentre, audience, choice: audience.choices[0]?.title ?? '' }
}

for (const { locale, greeting } of people) {
  const language = locale.slice(0, 2)
  const texts = textsOf(language)
  const { button } = texts
  const { name: templateName, costCentre, audience, choice } = projectSiteIn(language)
  inChatWindows(`people whose Teams is in ${locale}`, { PLAYGROUND_LOCALE: locale }, (windows) => {
    it(
      `get a site from “${greeting}” to “${button.openSite}”, with all cards in their language`,
      async () => {
        const kim = await windows.open('kim')
        const dana = await windows.open('dana')
        const shots = (name: string) => `${language}-${name}`
        await kim.type(greeting)
        const help = await kim.sees(texts.help.command.newSite.says, shots('help'))
        expect(await help.innerText()).not.toContain(english.help.command.newSite.says)
        await help.getByText(texts.help.command.newSite.title, { exact: true }).click()
        const choose = await kim.sees(templateName, shots('choose'))
        await choose.getByText(templateName).click()

        const form = await kim.sees(texts.site.reason.label, shots('form'))
        await form.getByLabel(texts.site.displayName.label).fill('Aurora')
        await form.getByLabel(costCentre.label).fill('47')
        await form.getByRole('button', { name: button.review, exact: true }).click()
        const returned = await kim.sees(costCentre.error, shots('form-returned'))
        await kim.picks(returned, audience.label, choice)
        await returned.getByLabel(costCentre.label).fill('4711')
        await returned.getByLabel(texts.site.reason.label).fill('Aurora')
        await kim.page.screenshot({ path: join(screenshots, `kim-${language}-form-filled.png`) })
        await returned.getByRole('button', { name: button.review, exact: true }).click()

        const review = await kim.sees(texts.review.band, shots('review'))
        await review.getByRole('button', { name: button.send, exact: true }).click()
        await kim.sees(texts.state.pendingApproval.name, shots('waiting'))
        const approval = await dana.sees(texts.approval.band.first, shots('approval'))
        await approval.getByRole('button', { name: button.reject, exact: true }).click()
        const missing = await dana.sees(texts.approval.comment.error.split('{')[0] ?? '', shots('comment-missing'))
        await missing.getByRole('button', { name: button.approve, exact: true }).click()
        await dana.sees(texts.decided.approvedByYou.band, shots('approved'))
        const ready = await kim.sees(texts.ready.band, shots('ready'))
        expect(await ready.innerText()).toContain('/sites/aurora')
        await ready.getByRole('link', { name: button.openSite }).waitFor()
      },
      3 * patience,
    )

    it(
      'read errors and lists in their language',
      async () => {
        const kim = await windows.open('kim')
        const [cancel = '', status = ''] = [texts.commands.cancel[0], texts.commands.status[0]]
        await kim.type(`${cancel} REQ-1001`)
        const late = [texts.notice.cannotCancel.band, texts.notice.alreadyEnded.band].join('|')
        await kim.sees(new RegExp(late), `${language}-too-late`)
        await kim.type(`${status} REQ-9999`)
        await kim.sees(texts.notice.notFound.band, `${language}-not-found`)
        await kim.type(texts.commands['my requests'][0] ?? '')
        await kim.sees(texts.list.band, `${language}-my-requests`)
        await kim.type('xyzzy')
        await kim.sees(texts.help.unclear, `${language}-unclear`)
      },
      2 * patience,
    )
  })
}
