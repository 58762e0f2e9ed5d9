import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, inject, it } from 'vitest'
import { inChatWindows, patience, type Window } from '../support/chat-windows.ts'

const templates = join(mkdtempSync(join(inject('runFolder'), 'first-day-')), 'templates.json')
writeFileSync(templates, '[]')

inChatWindows(
  'the first day of a service without templates, in a real browser',
  { PLAYGROUND: 'admin', TEMPLATES_FILE: templates },
  (windows) => {
    let kim: Window
    let sam: Window
    beforeAll(async () => {
      kim = await windows.open('kim')
      sam = await windows.open('sam')
    }, patience)

    it(
      'an employee reads the names of helpers, an admin adds the first template with cards only, and the employee uses it',
      async () => {
        await kim.sees('You cannot request anything yet. Sam Roy can add a template.', 'nothing-yet')

        const first = await sam.sees('There is no template yet', 'first-day')
        await first.getByRole('button', { name: 'Add template' }).click()
        const starters = await sam.sees('What do you want people to request?', 'starters')
        await starters.getByText('Team site', { exact: false }).click()
        const form = await sam.sees('Address prefix', 'starter-form')
        await form.getByLabel('Template name').fill('Team space')
        await form.getByLabel('Address prefix').fill('-team')
        await form.getByLabel('People or a group', { exact: true }).click()
        await form.getByLabel('Approver group').fill('Site')
        await form.getByRole('button', { name: 'Preview' }).click()
        const returned = await sam.sees('One thing to fix', 'starter-faults')
        expect(await returned.getByLabel('Template name').inputValue()).toBe('Team space')
        await returned.getByLabel('Address prefix').fill('team-')
        await returned.getByRole('button', { name: 'Preview' }).click()
        const preview = await sam.sees('Template preview', 'starter-preview')
        expect(await preview.innerText()).toContain('/sites/team-apollo')
        expect(await preview.innerText()).toContain('group Site approvers')
        await preview.getByRole('button', { name: 'Create' }).click()
        const added = await sam.sees('Template added. People can use it now.', 'template-added')
        expect(await added.innerText()).toContain('Version 1: Sam Roy')
        await added.getByRole('button', { name: 'Simulate' }).click()
        await sam.sees('Team space', 'tried')

        await kim.type('new site')
        const request = await kim.sees('Site name', 'request')
        await request.getByLabel('Site name').fill('Orchard')
        await request.getByLabel('Why do you need it?').fill('For the first team')
        await request.getByRole('button', { name: 'Review' }).click()
        const review = await kim.sees('team-orchard', 'review')
        await review.getByRole('button', { name: 'Send' }).click()
        await kim.sees(/Dana Fox|Omar Haddad/, 'waits')
      },
      2 * patience,
    )
  },
)
