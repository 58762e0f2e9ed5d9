import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Catalogue, catalogues } from '../../src/cards/index.ts'
import { inChatWindows, patience, screenshots } from '../support/chat-windows.ts'

const english = textsOf('en')

function textsOf(language: string): Catalogue {
  const found = catalogues.get(language)
  if (!found) throw new Error(`there is no catalogue of ${language}`)
  return found
}

/** The first message of a person in each language, and the labels of the sample template "Project site". */
const people = [
  { locale: 'de-DE', greeting: 'hallo', template: 'Projektwebsite', costCentre: 'Kostenstelle' },
  { locale: 'fr-FR', greeting: 'bonjour', template: 'Site de projet', costCentre: 'Centre de coûts' },
  { locale: 'es-ES', greeting: 'hola', template: 'Sitio de proyecto', costCentre: 'Centro de coste' },
] as const

for (const { locale, greeting, template, costCentre } of people) {
  const language = locale.slice(0, 2)
  const texts = textsOf(language)
  const { button } = texts
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
        const choose = await kim.sees(template, shots('choose'))
        await choose.getByText(template).click()

        const form = await kim.sees(texts.site.reason.label, shots('form'))
        expect(await form.innerText()).not.toContain(english.site.description.label.concat('\n'))
        await form.getByLabel(texts.site.displayName.label).fill('Aurora')
        await form.getByLabel(costCentre).fill('47')
        await form.getByRole('button', { name: button.review }).click()
        const returned = await kim.sees(texts.form.lead.look.split('{')[0] ?? '', shots('form-returned'))
        await returned.getByLabel(costCentre).fill('4711')
        await returned.getByLabel(texts.site.reason.label).fill('Aurora')
        await kim.page.screenshot({ path: join(screenshots, `kim-${language}-form-filled.png`) })
        await returned.getByRole('button', { name: button.review }).click()

        const review = await kim.sees(texts.review.band, shots('review'))
        await review.getByRole('button', { name: button.send }).click()
        await kim.sees(texts.state.pendingApproval.name, shots('waiting'))
        const approval = await dana.sees(texts.approval.band.first, shots('approval'))
        await approval.getByRole('button', { name: button.reject, exact: true }).click()
        const missing = await dana.sees(texts.approval.comment.error.split('{')[0] ?? '', shots('comment-missing'))
        await missing.getByRole('button', { name: button.approve, exact: true }).click()
        await dana.sees(texts.decided.approvedByYou.band, shots('approved'))
        const ready = await kim.sees(texts.ready.band, shots('ready'))
        expect(await ready.getByRole('link', { name: button.openSite }).getAttribute('href')).toContain('/sites/')
      },
      3 * patience,
    )

    it(
      'read errors and lists in their language',
      async () => {
        const kim = await windows.open('kim')
        const [cancel = '', status = ''] = [texts.commands.cancel[0], texts.commands.status[0]]
        await kim.type(`${cancel} REQ-1001`)
        await kim.sees(/REQ-1001/, `${language}-too-late`)
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
