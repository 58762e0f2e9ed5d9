import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { inChatWindows, patience, type Window } from '../support/chat-windows.ts'

inChatWindows('approvals in two stages, in a real browser', { PLAYGROUND: 'admin' }, (windows) => {
  let kim: Window
  let dana: Window
  let sam: Window
  beforeAll(async () => {
    kim = await windows.open('kim')
    dana = await windows.open('dana')
    sam = await windows.open('sam')
  }, patience)

  it(
    'returns a rejected request to its requester, who reads the reason, changes it and sends it again',
    async () => {
      await kim.type('new partner site')
      const form = await kim.sees('Partner', 'form')
      await form.getByLabel('Site name').fill('Fabrikam bridge')
      await form.getByLabel('Partner').fill('Fabrikam AG')
      await form.getByLabel('Description').fill('Drawings and minutes of the bridge')
      await form.getByLabel('Contract ends').fill('2099-12-31')
      await kim.picks(form, 'People Picker', 'Omar Haddad', 'Omar')
      await kim.picks(form, 'People Picker', 'Omar Haddad', 'Omar', 1)
      await form.getByLabel('A confidentiality agreement is signed').check()
      await kim.picks(form, 'Sensitivity', 'Confidential')
      await form.getByLabel('Why do you need it?').fill('Fabrikam and we plan the bridge together.')
      await form.getByRole('button', { name: 'Review' }).click()
      const review = await kim.sees('Is this right?', 'review')
      expect(await review.innerText()).toContain('Dana Fox decides')
      await review.getByRole('button', { name: 'Send' }).click()
      await kim.sees('Waiting for Dana Fox', 'waiting')

      const approvalCard = await dana.sees('Your decision, please', 'asked')
      await approvalCard.getByRole('button', { name: 'Reject' }).click()
      const missing = await dana.sees('Explain in a comment', 'comment-missing')
      await missing.getByLabel('Comment').fill('Please name the project in its name.')
      await missing.getByRole('button', { name: 'Reject' }).click()
      await dana.sees('Rejected by you', 'rejected')

      const rejected = await kim.sees(/Rejected[\s\S]*Please name the project in its name/, 'rejected')
      await rejected.getByRole('button', { name: 'Edit and send again' }).click()
      const again = await kim.sees('Step 2 of 3', 'form-again')
      expect(await again.getByLabel('Partner').inputValue()).toBe('Fabrikam AG')
      expect(await again.getByLabel('Why do you need it?').inputValue()).toContain('plan the bridge')
      await again.getByLabel('Site name').fill('Fabrikam bridge - Project Aurora')
      await again.getByRole('button', { name: 'Review' }).click()
      const second = await kim.sees(/Is this right[\s\S]*Project Aurora/, 'review-again')
      await second.getByRole('button', { name: 'Send' }).click()
      await kim.sees(/Waiting for approval[\s\S]*REQ-1002/, 'waiting-again')
      const resent = await dana.sees(/Your decision, please[\s\S]*REQ-1002/, 'asked-again')
      const shown = await resent.innerText()
      expect(shown).toContain('Changed since REQ-1001')
      expect(shown).toMatch(/Fabrikam bridge → Fabrikam bridge - Project Aurora/)
      expect(shown).toMatch(/This address is free: \S*project-aurora/)
      for (const fact of ['Fabrikam AG', 'Confidential', 'Kim Lee']) expect(shown).toContain(fact)
    },
    2 * patience,
  )

  it(
    'lets a delegate, who reads the approver and the reason, decide the first stage',
    async () => {
      await dana.type('approvals')
      await dana.sees('1 waiting', 'approvals')
      await dana.type('delegate sam roy until friday')
      const saved = await dana.sees('Delegation saved', 'delegated')
      expect(await saved.innerText()).toContain('Sam Roy can also decide for you until')
      await dana.sees(/REQ-1002[\s\S]*Sam Roy can decide for you until/, 'asked-while-away')

      const forDana = await sam.sees('You decide for Dana Fox, who is away until', 'asked-for-dana')
      const description = forDana.getByText('Drawings and minutes of the bridge')
      expect(await description.isVisible()).toBe(false)
      await forDana.getByRole('button', { name: 'Details ▾' }).click()
      await description.waitFor({ state: 'visible' })
      await sam.sees('Drawings and minutes', 'details')
      await forDana.getByRole('button', { name: 'Hide details' }).click()
      await description.waitFor({ state: 'hidden' })
      await forDana.getByRole('button', { name: 'Details ▾' }).waitFor({ state: 'visible' })
      await sam.sees('You decide for Dana Fox', 'details-closed')
      const notice = await kim.sees('Dana Fox is away until', 'delegated')
      await notice.getByRole('button', { name: 'Nudge' }).click()
      await kim.sees('Your last reminder', 'nudged')
      await sam.sees('Kim Lee reminds you', 'reminded')
      await kim.type('nudge REQ-1002')
      const already = await kim.sees('Already reminded', 'nudged-already')
      expect(await already.innerText()).toContain('You can remind them again from')

      const reminder = sam.card('Kim Lee reminds you')
      await reminder.getByLabel('Comment').fill('The contract is signed.')
      await reminder.getByRole('button', { name: 'Approve' }).click()
      await sam.sees('Approved by you on behalf of Dana Fox', 'approved-for-dana')
    },
    2 * patience,
  )

  it(
    'asks the second stage, explains the request, and ends with the link of the site',
    async () => {
      await kim.sees(/Approved by Sam Roy for Dana Fox[\s\S]*Approval 2 of 2/, 'second-stage')
      await dana.sees(/Your decision, please[\s\S]*Approval 2 of 2/, 'asked-second')
      const second = await sam.sees(/You decide for Dana Fox[\s\S]*Approval 2 of 2/, 'asked-second-for-dana')
      await kim.type('why REQ-1002')
      await kim.sees('Explanation', 'why')
      await dana.type('back')
      const back = await dana.sees('Welcome back', 'back')
      expect(await back.innerText()).toContain('Sam Roy no longer decides for you.')
      await sam.sees(/Others decide now[\s\S]*Omar/, 'others-decide')
      await second.waitFor({ state: 'detached' })

      const approvalCard = await dana.sees(/Your decision, please[\s\S]*Approval 2 of 2/, 'asked-second-back')
      await approvalCard.getByRole('button', { name: 'Approve' }).click()
      await dana.sees(/Approved by you,/, 'approved')
      const ready = await kim.sees('Your site is ready', 'ready')
      expect(await ready.innerText()).toContain('/sites/ext-fabrikam-ag-fabrikam-bridge-project-aurora')
      await kim.card(/Finished, see below[\s\S]*REQ-1002/).waitFor({ timeout: 60_000 })
    },
    2 * patience,
  )

  it(
    'shows on the cards which person replaces which approver after an admin reassigned the request by REST',
    async () => {
      await kim.type('new project site')
      const form = await kim.sees('Cost centre', 'project-form')
      await form.getByLabel('Site name').fill('Project Borealis')
      await form.getByLabel('Cost centre').fill('4711')
      await kim.picks(form, 'Who works in it', 'Only people in Contoso')
      await form.getByLabel('Why do you need it?').fill('A place for the drawings.')
      await form.getByRole('button', { name: 'Review' }).click()
      await (await kim.sees(/Is this right[\s\S]*Borealis/, 'project-review'))
        .getByRole('button', { name: 'Send' })
        .click()
      const approvalCard = await dana.sees(/Your decision, please[\s\S]*Borealis/, 'asked-borealis')
      const { value } = listed.parse(await windows.rest('kim', 'GET', '/requests/v1/?limit=1'))
      const body = { from: ids.dana, to: ids.sam, comment: 'Dana is in the mountains.' }
      await windows.rest('sam', 'POST', `/requests/v1/${value[0]?.requestId}/reassign`, body)
      await dana.sees(/Somebody else decides[\s\S]*Borealis/, 'given-away')
      await approvalCard.waitFor({ state: 'detached' })
      await sam.sees(/Your decision, please[\s\S]*Borealis/, 'handed')
      await kim.sees(/Borealis[\s\S]*Waiting for Sam Roy or Omar Haddad/, 'reassigned')
    },
    2 * patience,
  )
})

const ids = { dana: '11111111-aaaa-4aaa-8aaa-000000000002', sam: '11111111-aaaa-4aaa-8aaa-000000000004' } as const
const listed = z.object({ value: z.array(z.object({ requestId: z.uuid() })) })
